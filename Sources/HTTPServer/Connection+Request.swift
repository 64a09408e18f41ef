internal import CMicroHTTPD
internal import ServiceRuntime
internal import Synchronization

/// The I/O thread's side: the steps of a request, as libmicrohttpd reports them.
extension Connection {
    /// What libmicrohttpd is told.
    enum Step: Sendable {
        /// Go on: with the body, with the answer that was handed over, or wait until resumed.
        case proceed
        /// Hand over this answer; then the connection may have to end.
        case send(Response, close: Bool)
        case close
    }

    func requestLineArrived(target: String) {
        state.withLock { state in
            guard case .idle = state.phase else { return }
            state.phase = .headArriving
            state.request += 1
            state.target = target
            state.requestDue = .after(seconds: server.configuration.requestDeadline)
            state.due = state.requestDue
            state.isPastHead = false
            state.isBodyRead = false
            state.dropped = 0
        }
    }

    /// libmicrohttpd's call without data: at the head, at the end, and again after each resumption.
    func advance(head: () -> (method: String, version: String, fields: HeaderFields, size: Int)) -> Step {
        let (phase, isPastHead) = state.withLock { ($0.phase, $0.isPastHead) }
        switch phase {
        case .headArriving:
            let (method, version, fields, size) = head()
            begin(method: method, version: version, fields: fields, size: size)
        case .reading where isPastHead: handOverBody()
        default: break
        }
        return settle()
    }

    private func begin(method: String, version: String, fields: HeaderFields, size: Int) {
        let framing = BodyFraming(fields: fields, version: version)
        let (target, request) = state.withLock { ($0.target, $0.request) }
        let head = RequestHead(
            method: method, target: target, fields: fields, framing: framing ?? .chunked, version: version, peer: peer)
        let response = fault(framing: framing, size: size).map(server.errorResponse)

        let goesOn = state.withLock { state in
            guard case .headArriving = state.phase else { return false }
            state.isHeadRequest = method == "HEAD"
            state.hasBody = head.hasBody
            // An answer before the body makes libmicrohttpd close the connection, as it must when nobody knows where
            // the next request begins.
            state.expectsContinue = head.expectsContinue || framing == nil
            state.isInFlight = true
            server.requestBegan()
            if let response {
                answerEarly(response, &state)
                return false
            }
            state.phase = .deciding
            state.due = .never
            return true
        }
        guard goesOn else { return }
        server.handler.begin(
            head, Exchange(connection: self, request: request, contentLength: head.contentLength))
    }

    /// What keeps a request from the handler.
    private func fault(framing: BodyFraming?, size: Int) -> RequestFault? {
        guard framing != nil else { return .ambiguousFraming }
        let limit = server.configuration.headerLimit
        guard size <= limit else { return .headTooLarge(limit: limit) }
        return server.isDraining ? .draining : nil
    }

    private func handOverBody() {
        let taken = state.withLock { state -> (body: [UInt8], then: @Sendable ([UInt8]) -> Void)? in
            guard case .reading(_, let then) = state.phase else { return nil }
            let body = releaseBody(&state)
            state.phase = .deciding
            state.isBodyRead = true
            state.due = .never
            return (body, then)
        }
        if let taken { taken.then(taken.body) }
    }

    /// Says what to do now that the handler has had its call.
    private func settle() -> Step {
        while true {
            let step = state.withLock { state -> Step? in
                switch state.phase {
                case .idle, .headArriving, .sending, .cut:
                    return .close
                case .parked:
                    return .proceed
                case .deciding:
                    guard !server.isClosing else { return nil }
                    state.phase = .parked
                    state.due = .after(seconds: server.configuration.parkDeadline)
                    // SAFETY: called by libmicrohttpd's own callback for this connection, which is where it may be.
                    unsafe MHD_suspend_connection(state.handle)
                    return .proceed
                case .reading:
                    state.isPastHead = true
                    state.due = dueWhileReading(state)
                    return .proceed
                case .answered(let response):
                    if !state.isPastHead {
                        if !state.hasBody || !state.expectsContinue {
                            state.isPastHead = true
                            return .proceed
                        }
                        state.lingers = true
                    }
                    return send(response, &state)
                }
            }
            if let step { return step }
            // Stopping, and the handler has not decided: decide for it.
            let response = server.errorResponse(.draining)
            state.withLock { state in
                if case .deciding = state.phase { state.phase = .answered(response) }
            }
        }
    }

    private func send(_ response: Response, _ state: inout State) -> Step {
        state.phase = .sending
        state.due = .after(seconds: server.configuration.sendDeadline)
        let close = server.isDraining
        if close { state.lingers = true }
        server.counters.countAnswer(response.status)
        return .send(response, close: close)
    }

    /// A piece of the body.
    func received(_ bytes: UnsafeRawBufferPointer) -> Step {
        let fault = state.withLock { state -> RequestFault? in
            switch state.phase {
            case .reading(let limit, _):
                guard state.body.count + bytes.count <= limit else { return .bodyTooLarge(limit: limit) }
                let held = server.counters.bodyBytesHeld.add(bytes.count, ordering: .relaxed).newValue
                unsafe state.body.append(contentsOf: bytes)
                guard held <= server.configuration.bodyMemoryLimit else { return .overloaded }
                state.due = dueWhileReading(state)
            case .answered(let response):
                state.dropped += bytes.count
                if state.dropped > server.configuration.discardLimit { sayLastWord(response, &state) }
            default: break
            }
            return nil
        }
        if let fault {
            let response = server.errorResponse(fault)
            state.withLock { state in
                guard case .reading = state.phase else { return }
                answerEarly(response, &state)
            }
        }
        return .proceed
    }

    /// The answer is sent, or the request has failed.
    func completed(answered: Bool) {
        let past = state.withLock { state in
            let past = state.phase
            switch past {
            case .sending where answered: state.phase = .idle
            case .idle: break
            default:
                // libmicrohttpd answers malformed HTTP by itself; the client may still be sending.
                state.lingers = true
                state.phase = .cut
            }
            _ = releaseBody(&state)
            if state.isInFlight {
                state.isInFlight = false
                server.requestEnded()
            }
            state.due = .after(seconds: server.configuration.idleTimeout)
            return past
        }
        _ = past
    }

    private func releaseBody(_ state: inout State) -> [UInt8] {
        server.counters.bodyBytesHeld.subtract(state.body.count, ordering: .relaxed)
        defer { state.body = [] }
        return state.body
    }

    func dueWhileReading(_ state: State) -> Deadline {
        min(state.requestDue, .after(seconds: server.configuration.bodyStallTimeout))
    }

    /// Gives a request its answer while its body may still be coming.
    func answerEarly(_ response: Response, _ state: inout State) {
        _ = releaseBody(&state)
        state.phase = .answered(response)
        state.due = min(max(state.requestDue, .after(seconds: 1)), .after(seconds: server.configuration.discardTime))
    }
}
