internal import Accounts
internal import HTTPServer
internal import ServiceRuntime
internal import Telemetry

/// Checks every request with a key: whose key it is, whether it is of the right kind, whether the body is JSON, its
/// size, and what it contains. Refuses in this order.
struct Admission: Sendable {
    let keys: KeyDirectory
    let decoding: Decoding
    /// The kinds of keys that the route takes, the usual one first, and the answer to a key of another kind.
    let kinds: [APIKey.Kind]
    var wrongKind = ""
    /// What a body may be.
    var mediaTypes: [MediaType] = [.json]
    /// The most bytes of a body after unpacking.
    let unpackedLimit: Int
    /// Where the app's rate limit is counted.
    var limiter: RateLimiter?
    let isDraining: @Sendable () -> Bool
    /// Why a time of the clock cannot be trusted, for routes that store when a request was received.
    var clockFault: @Sendable (ClockReading) -> String? = { _ in nil }

    /// The most bytes of a body on the wire.
    static let wireLimit = 1024 * 1024

    /// Passes on the unpacked body and its sender, on the thread and at the time that `Decoding` decides. Answers every
    /// request that it refuses.
    func admit(
        _ head: RequestHead, _ answer: Answer, received: ClockReading? = nil,
        then receive: @escaping @Sendable ([UInt8], Access, Toll?) -> Void
    ) {
        KeyCheck(keys: keys, kinds: kinds, wrongKind: wrongKind).check(head, answer) { access, _ in
            read(head, of: access, answer, received, then: receive)
        }
    }

    private func read(
        _ head: RequestHead, of access: Access, _ answer: Answer, _ received: ClockReading?,
        then receive: @escaping @Sendable ([UInt8], Access, Toll?) -> Void
    ) {
        guard let type = MediaType(of: head), mediaTypes.contains(type) else {
            let choice = mediaTypes.map { "'Content-Type: \($0.rawValue)'" }.joined(separator: " or ")
            return answer.send(Problem(.unsupportedMediaType, "Send \(choice)."))
        }
        guard let coding = PackedBody.Coding(head.header("Content-Encoding")) else {
            return answer.send(
                Problem(.unsupportedEncoding, "Send the body as it is, or with 'Content-Encoding: gzip'."))
        }
        // An app in debt is refused before the body is read, unless the body is too large anyway.
        if (head.contentLength ?? 0) <= Self.wireLimit, let seconds = limiter?.wait(of: access) {
            return answer.send(Problem(rateLimitedFor: seconds))
        }
        answer.readBody(upTo: Self.wireLimit) { wire in
            guard !isDraining() else { return answer.send(Problem(RequestFault.draining)) }
            if let fault = received.flatMap(clockFault) { return answer.send(Problem(wrongClock: fault)) }
            let body = PackedBody(wire: wire, coding: coding, limit: unpackedLimit)
            guard coding == .gzip || wire.count <= unpackedLimit else { return answer.send(body.tooLarge) }
            // Other requests of the app may have arrived meanwhile.
            if let seconds = limiter?.wait(of: access) { return answer.send(Problem(rateLimitedFor: seconds)) }
            let toll = limiter.map { Toll($0, of: access) }
            toll?.raise(to: RateLimiter.tokens(forBytes: wire.count))
            decoding.unpack(body, of: access.app, toll, answer) { body in receive(body, access, toll) }
        }
    }
}
