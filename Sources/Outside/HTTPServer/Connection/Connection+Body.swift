internal import ServiceRuntime
internal import Synchronization

/// The second step: reading a request's body, for the handler or only to drop it.
extension Connection {
    /// The handler asks for the body.
    func read(_ request: UInt64, limit: Int, then: @escaping @Sendable ([UInt8]) -> Void, _ engine: Engine) {
        guard self.request == request, case .deciding = phase, exchange?.isMade == false else { return }
        precondition(bytesHandedOver == 0 && body.isEmpty, "the body of a request can be read once")
        if let left = decoder.left, left > limit { return answer(with: .bodyTooLarge(limit: limit), engine) }
        phase = .reading(limit: limit, then: then)
        (isTrusted, hasShownKey, answersWithoutKey) = (true, true, 0)
        idleSince = .now
        due = dueWhileReading
        // Reserve little for a body that a client only announces.
        body.reserveCapacity(min(decoder.left ?? 0, 64 << 10))
        if expectsContinue, incoming.isEmpty, !decoder.isDone {
            expectsContinue = false
            // Send it directly, because no answer precedes it. If the client's socket has no room for it, the client
            // has not read the earlier answers.
            let line = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
            guard socket?.write(line[...]) == .bytes(line.count) else { return close(engine) }
        }
        expectsContinue = false
    }

    private var dueWhileReading: Deadline {
        min(requestDue, .after(seconds: server.configuration.bodyStallTimeout))
    }

    /// False if more bytes must arrive.
    func takeBody(_ engine: Engine) -> Bool {
        if decoder.isDone {
            finishBody(engine)
            return true
        }
        if incoming.isEmpty, !receive(atMost: engine.scratch.count, engine) { return false }
        var rest = incoming[...]
        var pieces: [ArraySlice<UInt8>] = []
        do {
            while !rest.isEmpty, !decoder.isDone, pieces.count < Connection.mostPiecesInATurn {
                let (piece, used) = try decoder.next(rest)
                rest = rest.dropFirst(used)
                if !piece.isEmpty { pieces.append(piece) }
            }
        } catch {
            incoming = []
            malformed(error, engine)
            return true
        }
        let used = incoming.count - rest.count
        incoming = rest.isEmpty ? [] : Array(rest)
        switch phase {
        case .reading(let limit, _):
            let count = pieces.reduce(0) { $0 + $1.count }
            if body.count + count > limit {
                answer(with: .bodyTooLarge(limit: limit), engine)
            } else if count > 0, !engine.hasRoom(for: count, beside: self) {
                answer(with: .overloaded, engine)
            } else if count > 0 {
                server.counters.bodyBytesHeld.add(count, ordering: .relaxed)
                for piece in pieces { body += piece }
                due = dueWhileReading
            }
        case .discarding(let response):
            // Small chunks make a body take many times its size on the wire.
            dropped += used
            if dropped > server.configuration.discardLimit { send(response, thenClose: true, engine) }
        default:
            break
        }
        return true
    }

    /// The limit of pieces per turn. A piece may be a single byte in its own chunk, so one read may contain thousands.
    private static let mostPiecesInATurn = 1000

    private func finishBody(_ engine: Engine) {
        switch phase {
        case .reading(_, let then):
            let whole = body
            server.counters.bodyBytesHeld.subtract(whole.count, ordering: .relaxed)
            (body, bytesHandedOver) = ([], whole.count)
            phase = .deciding
            due = .after(seconds: server.configuration.parkDeadline)
            then(whole)
        case .discarding(let response):
            send(response, thenClose: false, engine)
        default:
            break
        }
    }

    /// Ends a request whose body is invalid: nobody knows where it ends.
    private func malformed(_ fault: RequestFault, _ engine: Engine) {
        switch phase {
        case .reading:
            // Otherwise the handler's answer will come in a moment.
            if exchange?.make() == true { send(server.errorResponse(fault), thenClose: true, engine) }
        case .discarding(let response): send(response, thenClose: true, engine)
        default: break
        }
    }
}
