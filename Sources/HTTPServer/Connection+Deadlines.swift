internal import Glibc
internal import ServiceRuntime
internal import Synchronization

/// The attendant's side: what happens when time is up.
extension Connection {
    /// Acts if something is overdue. Called every now and then.
    func checkDeadline(now: Deadline) {
        let fault = state.withLock { state -> RequestFault? in
            guard state.isOpen, state.due <= now else { return nil }
            switch state.phase {
            case .deciding: state.due = .never
            case .parked: return .unanswered
            case .reading: return .bodyStalled
            case .answered(let response): sayLastWord(response, &state)
            case .idle, .headArriving, .sending: cut(&state)
            case .cut: shut(&state)
            }
            return nil
        }
        if let fault { end(with: fault) }
    }

    /// The client has finished sending. What it sent is still read, and answered if it is whole.
    func clientEnded() {
        state.withLock { state in
            guard state.isOpen else { return }
            // Throws nothing away that has arrived, but makes the edge that libmicrohttpd missed; each time anew.
            shutdown(descriptor, Int32(SHUT_RD))
        }
    }

    /// No more time for anyone: what waits is answered now.
    func hurry() {
        let waits = state.withLock { state in
            switch state.phase {
            case .parked, .reading: return true
            case .answered(let response):
                sayLastWord(response, &state)
                return false
            default: return false
            }
        }
        if waits { end(with: .draining) }
    }

    private func end(with fault: RequestFault) {
        let response = server.errorResponse(fault)
        let past = state.withLock { state in
            let past = state.phase
            // In the meantime the next request may have come.
            guard fault == .draining || state.due.hasPassed else { return past }
            switch past {
            case .parked:
                answerEarly(response, &state)
                resume(state)
            case .reading:
                sayLastWord(response, &state)
            default: break
            }
            return past
        }
        _ = past
    }

    /// libmicrohttpd takes no answer in the middle of a body, so it goes around it, straight to the socket; then the
    /// client may go on sending for a little while, or the answer would be lost in a reset. Nothing of libmicrohttpd's
    /// can be on its way: it has no answer yet, and what it may say on its own to malformed HTTP ends the connection too.
    func sayLastWord(_ response: Response, _ state: inout State) {
        guard state.isOpen else { return }
        // Through TLS only libmicrohttpd's thread can speak.
        guard server.configuration.tls == nil else { return cut(&state) }
        // Open, under the lock: the descriptor is this connection's.
        RawAnswer(response, withBody: !state.isHeadRequest).send(to: descriptor)
        server.counters.countAnswer(response.status)
        state.phase = .cut
        state.due = .after(seconds: server.configuration.lingerTime)
    }

    private func cut(_ state: inout State) {
        server.counters.connectionsCut.add(1, ordering: .relaxed)
        state.phase = .cut
        shut(&state)
    }

    /// libmicrohttpd sees the end of the connection and closes it.
    private func shut(_ state: inout State) {
        // Open, under the lock: the descriptor is this connection's.
        shutdown(descriptor, Int32(SHUT_RDWR))
        state.due = .never
    }
}
