internal import ServiceRuntime

/// The first step: a request's head.
extension Connection {
    /// Before a request line.
    private static let mostEmptyLines = 2

    /// False when more must come, or it is somebody else's turn.
    func takeHead(_ engine: Engine) -> Bool {
        // What came behind the last request is looked at first.
        if scanner.position < incoming.count || receive(engine) {
            scan(engine)
            return true
        }
        return false
    }

    private func scan(_ engine: Engine) {
        let hadLine = scanner.requestLineEnd != nil
        let outcome = scanner.scan(incoming)
        let limit = server.configuration.headerLimit
        switch outcome {
        case .malformed(let detail): return refuse(.malformed(detail: detail), engine)
        case .complete(let end) where scanner.requestLineEnd == nil:
            // An empty line between two requests belongs to none. Nobody needs many, and each has all behind it moved.
            emptyLines += 1
            guard emptyLines <= Connection.mostEmptyLines else {
                return refuse(.malformed(detail: "too many empty lines precede the request line"), engine)
            }
            incoming.removeFirst(end)
            scanner = HeadScanner()
            if incoming.isEmpty { incoming = [] }
            return
        case .complete(let end):
            guard end <= limit else { return refuse(.headTooLarge(limit: limit), engine) }
            do { try begin(ParsedHead(incoming, end: end), end: end, engine) } catch { refuse(error, engine) }
        case .incomplete:
            if !hadLine, let lineEnd = scanner.requestLineEnd {
                // Who speaks no HTTP is told so at once, and need not guess what we wait for.
                do { _ = try RequestLine(incoming[..<lineEnd]) } catch { return refuse(error, engine) }
                requestDue = .after(seconds: server.configuration.requestDeadline)
                due = requestDue
            }
            if incoming.count > limit { refuse(.headTooLarge(limit: limit), engine) }
        }
    }

    private func begin(_ parsed: ParsedHead, end: Int, _ engine: Engine) {
        let head = RequestHead(parsed, peer: peer)
        if scanner.requestLineEnd != nil, requestDue == .never {
            requestDue = .after(seconds: server.configuration.requestDeadline)
        }
        incoming.removeFirst(end)
        if incoming.isEmpty, incoming.capacity > 4096 { incoming = [] }
        isHeadRequest = head.method == "HEAD"
        isPersistent = parsed.isPersistent
        version = parsed.line.version
        expectsContinue = head.expectsContinue
        decoder = BodyDecoder(parsed.framing)
        dropped = 0
        countRequest()
        guard !server.isDraining else { return answer(server.errorResponse(.draining), engine) }
        let settlement = Settlement()
        exchange = settlement
        phase = .deciding
        due = .after(seconds: server.configuration.parkDeadline)
        server.handler.begin(head, Exchange(connection: self, request: request, settlement: settlement))
    }

    /// What keeps a request from the handler. Nobody knows where the next one begins.
    private func refuse(_ fault: RequestFault, _ engine: Engine) {
        countRequest()
        isHeadRequest = false
        incoming = []
        send(server.errorResponse(fault), thenClose: true, engine)
    }

    private func countRequest() {
        request += 1
        isInFlight = true
        server.requestBegan()
    }

    /// Ready for the next one.
    func awaitRequest() {
        phase = .head
        scanner = HeadScanner()
        emptyLines = 0
        requestDue = .never
        idleSince = .now
        due = .after(seconds: server.configuration.idleTimeout)
        if incoming.isEmpty { incoming = [] }
    }
}
