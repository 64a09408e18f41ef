internal import Accounts
internal import Envelopes
internal import HTTPServer
package import ServiceRuntime
internal import Telemetry
package import Values

/// `POST /v1/events`: checks the key, reads the envelope, commits it and answers.
package final class EventsRoute: Sendable {
    private let admission: Admission
    private let destinations: Destinations
    private let metrics: IngestionMetrics
    private let log: Log
    private let decoders = DecoderPool()
    private let clock: (@Sendable () -> Timestamp)?

    /// `clock` gives the time when an envelope is received, if that is not the machine's.
    package init(
        keys: KeyDirectory, decoding: Decoding, destinations: Destinations, metrics: IngestionMetrics, log: Log,
        clock: (@Sendable () -> Timestamp)? = nil, isDraining: @escaping @Sendable () -> Bool
    ) {
        admission = Admission(
            keys: keys, decoding: decoding, kinds: [.write, .server], mediaTypes: [.json, .cloudEvents],
            unpackedLimit: Bounds.unpackedBody, limiter: RateLimiter(), isDraining: isDraining,
            clockFault: { reading in destinations.clockFault(of: reading) })
        self.destinations = destinations
        self.metrics = metrics
        self.log = log
        self.clock = clock
    }

    func begin(_ head: RequestHead, _ answer: Answer) {
        let received = ClockReading(telling: clock)
        let request = Request(
            received: received, began: .now, answer: answer, isDry: EventsDryRun.isAsked(by: head),
            isCloudEvents: MediaType(of: head) == .cloudEvents)
        admission.admit(head, answer, received: received) { [self] body, access, toll in
            receive(body, request, access, toll)
        }
    }

    /// What is known about one request while it is served.
    private struct Request: Sendable {
        let received: ClockReading
        let began: Deadline
        let answer: Answer
        let isDry: Bool
        let isCloudEvents: Bool
    }

    private func receive(_ body: [UInt8], _ request: Request, _ access: Access, _ toll: Toll?) {
        var envelope: DecodedEnvelope
        do {
            envelope = try decoders.with { decoder in
                request.isCloudEvents
                    ? try decoder.decode(cloudEvents: body, receivedAt: request.received.time)
                    : try decoder.decode(body: body, receivedAt: request.received.time)
            }
        } catch { return request.answer.send(Problem(decoding: error)) }
        CrashPoint.pass("decoded")
        toll?.raise(to: envelope.count + envelope.drops.count)
        let rule = KeyRule(access)
        guard !rule.refusesAll(of: envelope) else {
            return request.answer.send(
                Problem(
                    .wrongKeyKind,
                    "Events are posted with a write key; this is a server key, with which only goal.reached is taken."))
        }
        envelope = envelope.kept(to: rule)
        if request.isDry {
            let dryRun = EventsDryRun(envelope: envelope, access: access)
            return dryRun.run(by: destinations.table, bytes: body.count, request.answer)
        }
        if !envelope.invalidDrops.isEmpty {
            metrics.invalidDrops.add(envelope.invalidDrops.count)
            log.warning(
                "a client's report of dropped events could not be read",
                ["app": access.slug, "detail": envelope.invalidDrops[0], "entries": "\(envelope.invalidDrops.count)"])
        }
        submit(envelope, bytes: body.count, request, access)
    }

    private func submit(_ envelope: DecodedEnvelope, bytes: Int, _ request: Request, _ access: Access) {
        let table = destinations.table
        guard let parts = envelope.parts(among: table, bytes: bytes, access: access) else {
            return request.answer.send(.shardMoving)
        }
        let collector = VerdictCollector(envelope, parts: parts.count) { [self] outcome in
            metrics.requestSeconds.observe(Double(Deadline.now.nanoseconds - request.began.nanoseconds) / 1e9)
            switch outcome {
            case .settled(let result):
                result.count(in: metrics.events)
                request.answer.send(result.response)
            case .keyClosed: request.answer.send(.closedKey)
            case .elsewhere: request.answer.send(.shardMoving)
            case .lost:
                request.answer.send(
                    Problem(.unavailable, "The events were not committed. Send them again, unchanged.", retryAfter: 2))
            }
        }
        do {
            try table.submit(
                parts.map { part in
                    let committed = GroupCommit.Part(submission: part.submission, bytes: part.bytes) { fate in
                        collector.finish(fate)
                    }
                    return (part.destination, part.writer, committed)
                }, received: request.received)
            CrashPoint.pass("queued")
        } catch {
            switch error {
            case .wrongClock(let fault): request.answer.send(Problem(wrongClock: fault))
            case .overloaded: request.answer.send(Problem(RequestFault.overloaded))
            case .stopping: request.answer.send(Problem(RequestFault.draining))
            case .unavailable:
                request.answer.send(
                    Problem(
                        .unavailable, "Nothing can be stored at the moment. Send the events again, unchanged.",
                        retryAfter: 2)
                )
            }
        }
    }
}

extension Problem {
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
