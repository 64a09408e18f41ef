internal import ServiceRuntime

/// The first step: a request's head.
extension Connection {
    /// The most empty lines before a request line.
    private static let mostEmptyLines = 2

    /// False if more bytes must arrive, or another connection should have a turn.
    func takeHead(_ engine: Engine) -> Bool {
        // First look at the bytes that came after the last request.
        guard scanner.position < incoming.count || receive(atMost: lane.bytesOfAHead, engine) else { return false }
        let hadLine = scanner.requestLineEnd != nil
        let outcome = scanner.scan(incoming)
        let limit = server.configuration.headerLimit
        switch outcome {
        case .malformed(let detail): refuse(.malformed(detail: detail), engine)
        case .complete(let end) where scanner.requestLineEnd == nil:
            // An empty line between two requests belongs to neither. Allow only a few, because removing each one moves
            // all bytes after it.
            emptyLines += 1
            guard emptyLines <= Connection.mostEmptyLines else {
                refuse(.malformed(detail: "too many empty lines precede the request line"), engine)
                break
            }
            incoming.removeFirst(end)
            scanner = HeadScanner()
            if incoming.isEmpty { incoming = [] }
        case .complete(let end) where end > limit: refuse(.headTooLarge(limit: limit), engine)
        case .complete(let end):
            do { try begin(RequestHead(incoming, end: end, peer: peer), end: end, engine) } catch {
                refuse(error, engine)
            }
        case .incomplete:
            if !hadLine, let lineEnd = scanner.requestLineEnd {
                // Refuse a client that does not speak HTTP at once, so that it need not guess what we wait for.
                do { _ = try RequestLine(incoming[..<lineEnd]) } catch {
                    refuse(error, engine)
                    break
                }
                requestDue = .after(seconds: server.configuration.requestDeadline)
                due = requestDue
            }
            if incoming.count > limit { refuse(.headTooLarge(limit: limit), engine) }
        }
        return true
    }

    private func begin(_ head: RequestHead, end: Int, _ engine: Engine) {
        if scanner.requestLineEnd != nil, requestDue == .never {
            requestDue = .after(seconds: server.configuration.requestDeadline)
        }
        incoming.removeFirst(end)
        if incoming.isEmpty, incoming.capacity > 4096 { incoming = [] }
        isHeadRequest = head.method == "HEAD"
        isPersistent = head.isPersistent
        version = head.version
        expectsContinue = head.expectsContinue
        decoder = BodyDecoder(head.framing)
        dropped = 0
        isTrusted = false
        countRequest()
        guard !server.isDraining else { return answer(server.errorResponse(.draining), engine) }
        let settlement = Settlement()
        if peerHasEnded { settlement.leave() }
        exchange = settlement
        phase = .deciding
        due = .after(seconds: server.configuration.parkDeadline)
        let next = server.handler.begin(
            head, Exchange(connection: self, request: request, settlement: settlement))
        if case .readBody(let limit, let then) = next { read(request, limit: limit, then: then, engine) }
    }

    /// Refuses the request before the handler sees it. Nobody knows where the next request begins.
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

    /// Gets ready for the next request.
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
