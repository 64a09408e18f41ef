internal import Accounts
internal import HTTPServer
internal import ServiceRuntime

/// Takes the requests of one route from the head to the body that can be read. Each step is a function from one state
/// of the request to the next (`Request.swift`), which throws what the client is refused with; the order of the steps
/// is that of the refusals.
final class Reception: Sendable {
    private let demands: Demands
    private let intake: Intake
    /// Where the app's rate limit is counted.
    private let limiter: RateLimiter?
    private let receive: @Sendable (Unpacked) -> Void

    init(_ demands: Demands, _ intake: Intake, then receive: @escaping @Sendable (Unpacked) -> Void) {
        (self.demands, self.intake, self.receive) = (demands, intake, receive)
        limiter = demands.isLimited ? RateLimiter() : nil
    }

    /// On the I/O thread. Waits for the key directory only if it must ask the database.
    func begin(_ asked: Asked) -> NextStep {
        do throws(Problem) {
            let secret = try KeyCheck.secret(of: asked.head, for: demands)
            guard let access = intake.keys.known(secret) else {
                intake.keys.lookUp(secret) { [self] found in resume(asked, secret, found) }
                return .wait
            }
            let expected = try expect(asked, secret, .access(access))
            return .readBody(upTo: expected.limit) { [self] wire in take(wire, of: expected) }
        } catch { return asked.answer.now(error) }
    }

    /// Goes on with a request on the key directory's thread.
    private func resume(_ asked: Asked, _ secret: String, _ found: KeyDirectory.Answer) {
        do throws(Problem) {
            let expected = try expect(asked, secret, found)
            asked.answer.readBody(upTo: expected.limit) { [self] wire in take(wire, of: expected) }
        } catch { asked.answer.send(error) }
    }

    private func expect(
        _ asked: Asked, _ secret: String, _ found: KeyDirectory.Answer
    ) throws(Problem) -> Expected {
        let access = try KeyCheck.access(found, for: demands)
        let limit = demands.body.wireLimit
        switch demands.body {
        case .ignored:
            guard !intake.isDraining() else { throw Problem(RequestFault.draining) }
            // There is nothing in the body. But to ask for it shows the server that the key is a good one, so this
            // client does not wait with strangers.
            return Expected(
                asked: asked, access: access, secret: secret, type: .json, coding: .identity, limit: limit)
        case .json(let types, _):
            guard let type = MediaType(of: asked.head), types.contains(type) else {
                let choice = types.map { "'Content-Type: \($0.rawValue)'" }.joined(separator: " or ")
                throw Problem(.unsupportedMediaType, "Send \(choice).")
            }
            guard let coding = PackedBody.Coding(asked.head.header("Content-Encoding")) else {
                throw Problem(.unsupportedEncoding, "Send the body as it is, or with 'Content-Encoding: gzip'.")
            }
            // An app in debt is refused before the body is read, unless the body is too large anyway.
            if (asked.head.contentLength ?? 0) <= limit, let seconds = limiter?.wait(of: access) {
                throw Problem(rateLimitedFor: seconds)
            }
            return Expected(asked: asked, access: access, secret: secret, type: type, coding: coding, limit: limit)
        }
    }

    /// On the I/O thread: the body has arrived.
    private func take(_ wire: [UInt8], of expected: Expected) {
        do throws(Problem) {
            guard case .json(_, let limit) = demands.body else {
                let body = PackedBody(wire: [], coding: .identity, limit: 0)
                return receive(Unpacked(packed: Packed(expected: expected, body: body, toll: nil), body: []))
            }
            guard !intake.isDraining() else { throw Problem(RequestFault.draining) }
            if demands.storesTime, let fault = intake.destinations.clockFault(of: expected.asked.received) {
                throw Problem(wrongClock: fault)
            }
            let body = PackedBody(wire: wire, coding: expected.coding, limit: limit)
            guard expected.coding == .gzip || wire.count <= limit else { throw body.tooLarge }
            // Other requests of the app may have arrived meanwhile.
            if let seconds = limiter?.wait(of: expected.access) { throw Problem(rateLimitedFor: seconds) }
            let toll = limiter.flatMap { Toll($0, of: expected.access) }
            toll?.raise(to: RateLimiter.tokens(forBytes: wire.count))
            intake.decoding.unpack(Packed(expected: expected, body: body, toll: toll), then: receive)
        } catch { expected.asked.answer.send(error) }
    }
}
