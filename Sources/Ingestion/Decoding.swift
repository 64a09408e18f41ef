internal import ServiceRuntime

/// Where bodies are unpacked and read: away from the thread that serves all connections, and by turns of the apps.
///
/// What is small goes by the quick lane, and what unpacks to more by the heavy one, whose thread yields to all others of the
/// process: so a small envelope never waits for a large one. What is small, of an app that sends little, is done at once on
/// the thread that brought it.
package final class Decoding: Sendable {
    package struct Configuration: Sendable {
        /// Bodies that may wait in a lane, and their bytes as they came.
        package var mostRequests = 512
        package var mostBytes = 32 * 1024 * 1024
        /// Before a body is turned away instead of read.
        package var secondsToWait = 10.0

        package init() {}
    }

    /// A plain body of so few bytes is read in less time than its head was: it always stays on the thread that brought it.
    static let tinyBody = 1024
    /// Unpacked, a larger one goes by the heavy lane.
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

    /// Hands over the unpacked body, now or later, here or on a thread of its own; answers where it cannot.
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

    /// False when it unpacks to more.
    private static func finish(
        _ body: PackedBody, upTo limit: Int, _ toll: Toll?, _ answer: Answer, _ receive: ([UInt8]) -> Void
    ) -> Bool {
        // While it waited others may have used up what there was.
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
