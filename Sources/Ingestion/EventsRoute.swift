internal import Compression
internal import EventLog
internal import HTTPServer
package import ServiceRuntime
package import Telemetry

/// `POST /v1/events`: who is it, may it, what does it hold, is it committed.
package final class EventsRoute: Sendable {
    /// Bytes of a body on the wire.
    static let wireLimit = 1024 * 1024

    private let keys: KeyDirectory
    private let commits: GroupCommit
    private let metrics: IngestionMetrics
    private let log: Log
    private let decoders = DecoderPool()
    private let limiter = RateLimiter()
    private let clock: @Sendable () -> Timestamp
    private let isDraining: @Sendable () -> Bool

    /// `clock` tells when an envelope is received.
    package init(
        keys: KeyDirectory, commits: GroupCommit, metrics: IngestionMetrics, log: Log,
        clock: @escaping @Sendable () -> Timestamp = { WallClock.now }, isDraining: @escaping @Sendable () -> Bool
    ) {
        self.keys = keys
        self.commits = commits
        self.metrics = metrics
        self.log = log
        self.clock = clock
        self.isDraining = isDraining
    }

    func begin(_ head: RequestHead, _ answer: Answer) {
        let request = Request(
            receivedAt: clock(), began: .now, answer: answer,
            isPacked: ContentCoding(head.header("Content-Encoding")) == .gzip)
        guard let secret = bearer(head.header("Authorization")) else {
            return answer.send(
                Problem(
                    .missingKey, "Send 'Authorization: Bearer <write key>'.", headers: [("WWW-Authenticate", "Bearer")])
            )
        }
        keys.find(secret) { [self] found in
            switch found {
            case .unavailable: answer.send(Problem(.unavailable, "The key cannot be checked now.", retryAfter: 2))
            case .unknown:
                answer.send(
                    Problem(
                        .unknownKey, "No app has this key. Keys are made with 'bellwether app key add'.",
                        headers: [("WWW-Authenticate", "Bearer error=\"invalid_token\"")]))
            case .access(let access) where access.isRevoked:
                answer.send(Problem(.revokedKey, "This key was closed. Use another one."))
            case .access(let access) where access.kind != .write:
                answer.send(Problem(.wrongKeyKind, "Events are posted with a write key; this is a server key."))
            case .access(let access): admit(head, request, access)
            }
        }
    }

    /// What is known of one request while it is served.
    private struct Request: Sendable {
        let receivedAt: Timestamp
        let began: Deadline
        let answer: Answer
        let isPacked: Bool
    }

    private func admit(_ head: RequestHead, _ request: Request, _ access: Access) {
        guard isJSON(head.header("Content-Type")) else {
            return request.answer.send(Problem(.unsupportedMediaType, "Send 'Content-Type: application/json'."))
        }
        guard ContentCoding(head.header("Content-Encoding")) != nil else {
            return request.answer.send(
                Problem(.unsupportedEncoding, "Send the body as it is, or with 'Content-Encoding: gzip'."))
        }
        request.answer.readBody(upTo: Self.wireLimit) { [self] body in receive(body, request, access) }
    }

    private func receive(_ wire: [UInt8], _ request: Request, _ access: Access) {
        guard !isDraining() else { return request.answer.send(Problem(RequestFault.draining)) }
        let body: [UInt8]
        let envelope: DecodedEnvelope
        do {
            body = request.isPacked ? try gunzip(wire, limit: Bounds.unpackedBody) : wire
            envelope = try decoders.with { decoder in try decoder.decode(body: body, receivedAt: request.receivedAt) }
        } catch { return request.answer.send(Problem(decoding: error)) }
        if let seconds = limiter.admit(
            envelope.items.count + envelope.drops.count, of: access.app, under: access.rateLimit)
        {
            return request.answer.send(
                Problem(
                    .rateLimited, "The app's limit is reached.",
                    retryAfter: Int(seconds.rounded(.up)).clamped(to: 1...3600)))
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
        let collector = VerdictCollector(envelope) { [self] result in
            metrics.requestSeconds.observe(Double(Deadline.now.nanoseconds - request.began.nanoseconds) / 1e9)
            guard let result else {
                return request.answer.send(
                    Problem(.unavailable, "The events were not committed. Send them again, unchanged.", retryAfter: 2))
            }
            for (name, count) in result.counts { metrics.events.add(count, name) }
            request.answer.send(result.response)
        }
        let parts = envelope.parts(
            for: commits, bytes: bytes, receivedAt: request.receivedAt, access: access, collector: collector)
        guard !parts.isEmpty else { return collector.finishEmpty() }
        do {
            try commits.submit(parts)
        } catch {
            switch error {
            case .overloaded: request.answer.send(Problem(RequestFault.overloaded))
            case .stopping: request.answer.send(Problem(RequestFault.draining))
            case .unavailable:
                request.answer.send(
                    Problem(.unavailable, "Nothing can be stored now. Send the events again, unchanged.", retryAfter: 2)
                )
            }
        }
    }

    private func bearer(_ field: String?) -> String? {
        guard let field, let space = field.utf8.firstIndex(of: UInt8(ascii: " ")),
            field[..<space].lowercased() == "bearer"
        else { return nil }
        let secret = field[space...].drop { $0 == " " }
        return secret.isEmpty || secret.utf8.contains(UInt8(ascii: " ")) ? nil : String(secret)
    }

    private func isJSON(_ field: String?) -> Bool {
        guard let field else { return false }
        if field == "application/json" { return true }
        let parts = field.split(separator: ";").map { $0.trimmed.lowercased() }
        guard parts.first == "application/json" else { return false }
        return parts.dropFirst().allSatisfy { part in
            !part.hasPrefix("charset=") || ["charset=utf-8", "charset=\"utf-8\"", "charset=utf8"].contains(part)
        }
    }
}

/// How a body is packed.
private enum ContentCoding {
    case identity, gzip

    /// Nil for a coding that we do not know.
    init?(_ field: String?) {
        guard let field else {
            self = .identity
            return
        }
        switch field.trimmed.lowercased() {
        case "", "identity": self = .identity
        case "gzip", "x-gzip": self = .gzip
        default: return nil
        }
    }
}

extension StringProtocol {
    fileprivate var trimmed: String {
        String(drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}

extension Int {
    fileprivate func clamped(to range: ClosedRange<Int>) -> Int {
        Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}

extension Problem {
    fileprivate init(decoding error: any Error) {
        switch error {
        case let error as GunzipError:
            switch error {
            case .tooLarge:
                self.init(.unpackedTooLarge, "At most \(Bounds.unpackedBody) bytes. Send fewer events at a time.")
            default: self.init(.notUnpackable, "\(error)")
            }
        case let error as EnvelopeError:
            switch error {
            case .notJSON(let detail): self.init(.notJSON, detail)
            case .notAnObject: self.init(.notAnObject, "An envelope is an object with an array 'events'.")
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
