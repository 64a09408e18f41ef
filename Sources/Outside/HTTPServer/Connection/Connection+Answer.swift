internal import ServiceRuntime

/// The last step: the answer, and closing the connection if necessary.
extension Connection {
    /// Takes the handler's answer, which is sent at the connection's turn.
    func settle(_ request: UInt64, _ response: Response) {
        guard self.request == request else { return }
        switch phase {
        case .deciding, .reading:
            releaseBody()
            exchange = nil
            phase = .answered(response)
            (idleSince, due) = (.now, .never)
        default: break
        }
    }

    /// Answers in place of the handler, unless the handler was faster.
    func answer(with fault: RequestFault, thenClose: Bool = false, _ engine: Engine) {
        guard exchange?.make() == true else {
            due = .never
            return
        }
        let response = server.errorResponse(fault)
        if thenClose { send(response, thenClose: true, engine) } else { answer(response, engine) }
    }

    /// Answers a request after its body has ended. Otherwise a client that sends first and reads later would see a
    /// broken connection instead of the answer.
    func answer(_ response: Response, _ engine: Engine) {
        releaseBody()
        exchange = nil
        let configuration = server.configuration
        if decoder.isDone {
            send(response, thenClose: false, engine)
        } else if expectsContinue || decoder.left.map({ $0 + dropped > configuration.discardLimit }) == true {
            // A client that asks before it sends need not send now, and we need not wait for a body that is too large.
            send(response, thenClose: true, engine)
        } else {
            phase = .discarding(response)
            idleSince = .now
            due = min(max(requestDue, .after(seconds: 1)), .after(seconds: configuration.discardTime))
        }
    }

    func send(_ response: Response, thenClose: Bool, _ engine: Engine) {
        releaseBody()
        exchange = nil
        lingersAfterAnswer = thenClose || !isPersistent || server.isDraining
        let persistence: AnswerBytes.Persistence =
            lingersAfterAnswer ? .close : version == .http10 ? .keepAlive : .silent
        let bytes = AnswerBytes(
            response, date: engine.date.text, persistence: persistence, withBody: !isHeadRequest)
        outgoing = bytes.body.isEmpty ? [bytes.head[...]] : [bytes.head[...], bytes.body]
        server.counters.countAnswer(response.status)
        if !isTrusted { answersWithoutKey += 1 }
        phase = .sending
        idleSince = .now
        due = .after(seconds: server.configuration.sendDeadline)
    }

    /// Sends what it can; false if the client takes no more now.
    func flush(_ engine: Engine) -> Bool {
        while let piece = outgoing.first, let socket {
            guard mayWrite else { return false }
            switch socket.write(piece) {
            case .bytes(let count) where count == piece.count: outgoing.removeFirst()
            case .bytes(let count): outgoing[0] = piece.dropFirst(count)
            case .notNow: mayWrite = false
            case .ended, .failed:
                close(engine)
                return false
            }
        }
        endRequest()
        if lingersAfterAnswer { beginLingering(engine) } else { awaitRequest() }
        return true
    }

    /// Ends our side of the connection, and waits a little for the client to end its side.
    func beginLingering(_ engine: Engine) {
        guard let socket else { return }
        incoming = []
        socket.finishSending()
        guard engine.letLinger(self) else { return close(engine) }
        phase = .lingering
        dropped = 0
        due = .after(seconds: server.configuration.lingerTime)
    }

    /// False if there is nothing to drop now.
    func linger(_ engine: Engine) -> Bool {
        guard mayRead, let socket else { return false }
        switch socket.drop(into: &engine.scratch) {
        case .bytes(let count):
            dropped += count
            if dropped > server.configuration.discardLimit { close(engine) }
            return true
        case .notNow:
            mayRead = false
            return false
        case .ended, .failed:
            close(engine)
            return false
        }
    }
}
