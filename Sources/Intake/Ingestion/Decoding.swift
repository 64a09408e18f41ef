internal import ServiceRuntime

/// Unpacks and reads bodies away from the thread that serves all connections, with the apps taking turns.
///
/// Small bodies use the quick lane. Bodies that unpack to more use the heavy lane, whose thread yields to all others of
/// the process. So a small envelope never waits for a large one. A small body of an app that sends little is read at
/// once on the thread that received it.
package final class Decoding: Sendable {
    package struct Configuration: Sendable {
        /// How many bodies, and how many bytes of them as received, may wait in a lane.
        package var mostRequests = 2048
        package var mostBytes = 32 * 1024 * 1024
        /// A body that waits longer is refused.
        package var secondsToWait = 10.0

        package init() {}
    }

    /// A plain body of at most so many bytes takes less time than its head did, so the thread that received it always
    /// decodes it.
    static let tinyBody = 1024
    /// A body that unpacks to more uses the heavy lane.
    static let smallBody = 64 * 1024

    private let configuration: Configuration
    private let budget = InlineBudget()
    private let quick: DecodingLane
    private let heavy: DecodingLane

    package init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
        quick = DecodingLane(
            name: "decoder", niceness: 5, mostRequests: configuration.mostRequests, mostBytes: configuration.mostBytes)
        heavy = DecodingLane(
            name: "heavy-decoder", niceness: 10, mostRequests: configuration.mostRequests,
            mostBytes: configuration.mostBytes)
    }

    /// Requests that wait to be read.
    package var waiting: Int { quick.waiting + heavy.waiting }

    package func start() {
        quick.start()
        heavy.start()
    }

    package func stop() {
        quick.stop()
        heavy.stop()
    }

    /// Passes on the unpacked body, now or later, on this thread or on one of its own. Answers the request if it
    /// cannot.
    func unpack(
        _ body: PackedBody, of app: Int32, _ toll: Toll?, _ answer: Answer,
        then receive: @escaping @Sendable ([UInt8]) -> Void
    ) {
        let deadline = Deadline.after(seconds: configuration.secondsToWait)
        let submit: @Sendable (DecodingLane, _ work: @escaping @Sendable () -> Void) -> Void = { lane, work in
            lane.submit(
                DecodingLane.Job(app: app, bytes: body.wire.count, deadline: deadline, work: work) { problem in
                    toll?.payBack()
                    answer.send(problem)
                })
        }
        let atLength: @Sendable () -> Void = { [heavy] in
            submit(heavy) {
                if !Self.finish(body, upTo: body.limit, toll, answer, receive) { answer.send(body.tooLarge) }
            }
        }
        let quickly: @Sendable () -> Void = {
            if !Self.finish(body, upTo: min(Self.smallBody, body.limit), toll, answer, receive) { atLength() }
        }
        if body.wire.count > Self.smallBody { return atLength() }
        if body.coding != .gzip, body.wire.count <= Self.tinyBody { return quickly() }
        if !budget.spend(of: app, on: quickly) { submit(quick, quickly) }
    }

    /// Returns false if the body unpacks to more.
    private static func finish(
        _ body: PackedBody, upTo limit: Int, _ toll: Toll?, _ answer: Answer, _ receive: ([UInt8]) -> Void
    ) -> Bool {
        // Others may have used up the allowance while it waited.
        if let seconds = toll?.wait {
            toll?.payBack()
            answer.send(Problem(rateLimitedFor: seconds))
            return true
        }
        do throws(PackedBody.Fault) { receive(try body.unpacked(upTo: limit, toll)) } catch {
            switch error {
            case .tooLarge: return false
            case .rateLimited(let seconds): answer.send(Problem(rateLimitedFor: seconds))
            case .notUnpackable(let reason): answer.send(Problem(.notUnpackable, reason))
            }
        }
        return true
    }
}
