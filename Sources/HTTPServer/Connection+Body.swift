internal import ServiceRuntime
internal import Synchronization

/// The second step: a request's body, for the handler or for nobody.
extension Connection {
    /// The handler wants the body.
    func read(_ request: UInt64, limit: Int, then: @escaping @Sendable ([UInt8]) -> Void, _ engine: Engine) {
        guard self.request == request, case .deciding = phase, exchange?.isMade == false else { return }
        precondition(bytesHandedOver == 0 && body.isEmpty, "the body of a request can be read once")
        if let left = decoder.left, left > limit { return answer(with: .bodyTooLarge(limit: limit), engine) }
        phase = .reading(limit: limit, then: then)
        idleSince = .now
        due = dueWhileReading
        // What a client merely announces gets little.
        body.reserveCapacity(min(decoder.left ?? 0, 64 << 10))
        if expectsContinue, incoming.isEmpty, !decoder.isDone {
            expectsContinue = false
            // It goes ahead of an answer of which there is nothing yet; a client whose socket has no room for it has not read
            // what came before.
            let line = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
            guard socket?.write(line[...]) == .bytes(line.count) else { return close(engine) }
        }
        expectsContinue = false
    }

    private var dueWhileReading: Deadline {
        min(requestDue, .after(seconds: server.configuration.bodyStallTimeout))
    }

    /// False when more must come.
    func takeBody(_ engine: Engine) -> Bool {
        if decoder.isDone {
            finishBody(engine)
            return true
        }
        if incoming.isEmpty, !receive(engine) { return false }
        do {
            var rest = incoming[...]
            var pieces: [ArraySlice<UInt8>] = []
            while !rest.isEmpty, !decoder.isDone, pieces.count < Connection.mostPiecesInATurn {
                let (piece, used) = try decoder.next(rest)
                rest = rest.dropFirst(used)
                if !piece.isEmpty { pieces.append(piece) }
            }
            let used = incoming.count - rest.count
            incoming = rest.isEmpty ? [] : Array(rest)
            take(pieces, of: used, engine)
        } catch {
            incoming = []
            malformed(error, engine)
        }
        return true
    }

    /// A piece may be a single byte in a chunk of its own; then what was read at once has thousands of them.
    private static let mostPiecesInATurn = 1000

    /// What a turn brought; `used` bytes carried it.
    private func take(_ pieces: [ArraySlice<UInt8>], of used: Int, _ engine: Engine) {
        switch phase {
        case .reading(let limit, _):
            let count = pieces.reduce(0) { $0 + $1.count }
            guard count > 0 else { return }
            guard body.count + count <= limit else { return answer(with: .bodyTooLarge(limit: limit), engine) }
            guard engine.hasRoom(for: count, beside: self) else { return answer(with: .overloaded, engine) }
            server.counters.bodyBytesHeld.add(count, ordering: .relaxed)
            for piece in pieces { body += piece }
            due = dueWhileReading
        case .discarding(let response):
            // What carries a body in small chunks is many times the body.
            dropped += used
            if dropped > server.configuration.discardLimit { send(response, thenClose: true, engine) }
        default:
            break
        }
    }

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

    /// The body is none: nobody knows where it ends.
    private func malformed(_ fault: RequestFault, _ engine: Engine) {
        switch phase {
        case .reading:
            // Otherwise the handler's answer is here in a moment.
            if exchange?.make() == true { send(server.errorResponse(fault), thenClose: true, engine) }
        case .discarding(let response): send(response, thenClose: true, engine)
        default: break
        }
    }
}
