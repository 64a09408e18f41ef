internal import Accounts
internal import Envelopes
internal import HTTPServer
internal import ServiceRuntime
internal import Telemetry
internal import Values

extension Route {
    /// `POST /v1/events`: reads the envelope, commits it and answers.
    static let events = Route(
        "POST", "/v1/events", "Events", "Store the events of an envelope", isForScripts: true,
        Demands(
            keys: [.write, .server], body: .json([.json, .cloudEvents], upTo: Bounds.unpackedBody), isLimited: true,
            storesTime: true)
    ) { intake in
        let route = EventsRoute(destinations: intake.destinations, metrics: intake.metrics, log: intake.log)
        return { request in route.receive(request) }
    }
}

/// On the thread that `Decoding` chose, until the writers have the events.
private final class EventsRoute: Sendable {
    private let destinations: Destinations
    private let metrics: IngestionMetrics
    private let log: Log
    private let decoders = DecoderPool()

    init(destinations: Destinations, metrics: IngestionMetrics, log: Log) {
        (self.destinations, self.metrics, self.log) = (destinations, metrics, log)
    }

    func receive(_ request: Unpacked) {
        do throws(Problem) {
            let decoded = try decode(request)
            if EventsDryRun.isAsked(by: request.head) {
                let dryRun = EventsDryRun(envelope: decoded.envelope, access: request.access)
                return try dryRun.run(by: destinations.table, bytes: request.body.count, request.answer)
            }
            tellOfInvalidDrops(decoded)
            try submit(decoded)
        } catch { request.answer.send(error) }
    }

    private func decode(_ request: Unpacked) throws(Problem) -> Decoded {
        let (body, received) = (request.body, request.received.time)
        let envelope: DecodedEnvelope
        do {
            envelope = try decoders.with { decoder in
                request.type == .cloudEvents
                    ? try decoder.decode(cloudEvents: body, receivedAt: received)
                    : try decoder.decode(body: body, receivedAt: received)
            }
        } catch { throw Problem(decoding: error) }
        CrashPoint.pass("decoded")
        request.toll?.raise(to: envelope.count)
        let rule = KeyRule(request.access)
        guard !rule.refusesAll(of: envelope) else {
            throw Problem(
                .wrongKeyKind,
                "Events are posted with a write key; this is a server key, with which only goal.reached is taken.")
        }
        return Decoded(request: request, envelope: envelope.kept(to: rule))
    }

    private func tellOfInvalidDrops(_ decoded: Decoded) {
        let problems = decoded.envelope.invalidDrops
        guard !problems.isEmpty else { return }
        metrics.invalidDrops.add(problems.count)
        log.warning(
            "a client's report of dropped events could not be read",
            ["app": decoded.request.access.slug, "detail": problems[0], "entries": "\(problems.count)"])
    }

    /// Gives each writer its part. The last of them answers.
    private func submit(_ decoded: Decoded) throws(Problem) {
        let (request, envelope, table) = (decoded.request, decoded.envelope, destinations.table)
        guard let shares = envelope.shares(among: table) else { throw .shardMoving }
        let (answer, began, metrics) = (request.answer, request.began, metrics)
        let collector = VerdictCollector(envelope, parts: shares.count) { result in
            metrics.requestSeconds.observe(Double(Deadline.now.nanoseconds - began.nanoseconds) / 1e9)
            if case .settled(let results) = result { results.count(in: metrics.events) }
            answer.send(result.response)
        }
        let bytes = request.body.count / max(1, shares.count)
        let parts = shares.map {
            GroupCommit.Part($0, of: envelope, bytes: bytes, request.access, telling: collector)
        }
        do throws(GroupCommit.Refusal) {
            try table.submit(parts, received: request.received)
        } catch { throw Problem(notQueued: error) }
        CrashPoint.pass("queued")
    }
}

extension VerdictCollector.RequestResult {
    fileprivate var response: Response {
        switch self {
        case .settled(let results): results.response
        case .keyClosed: Problem.closedKey.response
        case .elsewhere: Problem.shardMoving.response
        case .lost:
            Problem(.unavailable, "The events were not committed. Send them again, unchanged.", retryAfter: 2).response
        }
    }
}

extension Problem {
    fileprivate init(notQueued refusal: GroupCommit.Refusal) {
        switch refusal {
        case .wrongClock(let fault): self.init(wrongClock: fault)
        case .overloaded: self.init(RequestFault.overloaded)
        case .stopping: self.init(RequestFault.draining)
        case .unavailable:
            self.init(
                .unavailable, "Nothing can be stored at the moment. Send the events again, unchanged.", retryAfter: 2)
        }
    }

    fileprivate init(decoding error: any Error) {
        switch error {
        case let error as EnvelopeError:
            switch error {
            case .notJSON(let detail): self.init(.notJSON, detail)
            case .notAnObject: self.init(.notAnObject, "An envelope is an object with an array 'events'.")
            case .notAnArray: self.init(.notAnArray, "A batch of CloudEvents is an array.")
            case .noEvents: self.init(.missingEvents, "The member 'events' must be an array.")
            case .sourceNotObject: self.init(.invalidSource, "The member 'source' must be an object.")
            case .tooLarge: self.init(.unpackedTooLarge, error.description)
            case .tooManyEvents(let count):
                self.init(.tooManyEvents, "The envelope has \(count) events; at most \(Bounds.events) go into one.")
            }
        default: self.init(.notJSON, "The body could not be read.")
        }
    }
}
