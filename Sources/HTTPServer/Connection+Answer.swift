internal import CMicroHTTPD
internal import ServiceRuntime

/// The handler's side: what `Exchange` asks for, from any thread.
extension Connection {
    func readBody(
        of request: UInt64, contentLength: Int?, limit: Int, then: @escaping @Sendable ([UInt8]) -> Void
    ) {
        let tooLarge = contentLength.map { $0 > limit } ?? false
        let response = tooLarge ? server.errorResponse(.bodyTooLarge(limit: limit)) : nil
        state.withLock { state in
            guard state.request == request else { return }
            switch state.phase {
            case .deciding, .parked: break
            case .reading: preconditionFailure("the body of a request can be read once")
            default: return
            }
            precondition(!state.isBodyRead, "the body of a request can be read once")
            let wasParked = isParked(state)
            if let response {
                answerEarly(response, &state)
            } else {
                state.phase = .reading(limit: limit, then: then)
                state.due = dueWhileReading(state)
                // What a client merely announces gets little.
                state.body.reserveCapacity(min(contentLength ?? 0, 64 << 10))
            }
            if wasParked { resume(state) }
        }
    }

    func respond(to request: UInt64, with response: Response) -> Bool {
        let (done, past) = state.withLock { state -> (Bool, Phase) in
            let past = state.phase
            guard state.request == request else { return (false, past) }
            switch past {
            case .deciding, .parked, .reading: break
            default: return (false, past)
            }
            let wasParked = isParked(state)
            answerEarly(response, &state)
            if wasParked { resume(state) }
            return (true, past)
        }
        _ = past
        return done
    }

    func isParked(_ state: State) -> Bool {
        if case .parked = state.phase { true } else { false }
    }

    /// To be called once for each time the connection was parked, by who took it out of that phase.
    func resume(_ state: State) {
        // SAFETY: the connection is suspended, so libmicrohttpd cannot have closed it: the handle is valid.
        unsafe MHD_resume_connection(state.handle)
    }
}
