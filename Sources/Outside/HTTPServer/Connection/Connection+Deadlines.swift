internal import ServiceRuntime
internal import Synchronization

/// What happens when time is up.
extension Connection {
    /// Handles a deadline that has passed.
    func expire(_ engine: Engine) {
        switch phase {
        case .deciding: answer(with: .unanswered, engine)
        case .reading: answer(with: .bodyStalled, thenClose: true, engine)
        case .discarding(let response): send(response, thenClose: true, engine)
        case .handshaking, .head, .sending: cut(engine)
        case .lingering: close(engine)
        // It only waits for its turn.
        case .answered, .closed: break
        }
    }

    /// The shutdown deadline has passed: every waiting request is answered now.
    func hurry(_ engine: Engine) {
        switch phase {
        case .deciding, .reading: answer(with: .draining, thenClose: true, engine)
        case .answered(let response), .discarding(let response): send(response, thenClose: true, engine)
        default: break
        }
    }

    /// Closes this connection to make room for others. A known answer is sent, as far as the socket takes it at once. A
    /// client whose body is still arriving is told to try again.
    func giveWay(_ engine: Engine) {
        switch phase {
        case .answered(let response), .discarding(let response):
            send(response, thenClose: true, engine)
            _ = flush(engine)
        case .reading where exchange?.make() == true:
            send(server.errorResponse(.overloaded), thenClose: true, engine)
            _ = flush(engine)
        // The handler's answer will come in a moment.
        case .reading: return
        default: break
        }
        switch phase {
        case .closed, .lingering: break
        default: close(engine)
        }
    }

    private func cut(_ engine: Engine) {
        server.counters.connectionsCut.add(1, ordering: .relaxed)
        close(engine)
    }
}
