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
    func unpack(_ packed: Packed, then receive: @escaping @Sendable (Unpacked) -> Void) {
        let task = Task(packed: packed, deadline: .after(seconds: configuration.secondsToWait), receive: receive)
        let body = packed.body
        if body.wire.count > Self.smallBody { return queueAtLength(task) }
        if body.coding != .gzip, body.wire.count <= Self.tinyBody { return finish(task, upTo: Self.smallBody) }
        if !budget.spend(of: packed.app, on: { finish(task, upTo: Self.smallBody) }) {
            quick.submit(task.job { [self] in finish(task, upTo: Self.smallBody) })
        }
    }

    /// A body, and who waits for it.
    private struct Task: Sendable {
        let packed: Packed
        let deadline: Deadline
        let receive: @Sendable (Unpacked) -> Void

        func job(_ work: @escaping @Sendable () -> Void) -> DecodingLane.Job {
            DecodingLane.Job(
                app: packed.app, bytes: packed.body.wire.count, deadline: deadline, work: work, refuse: refuse)
        }

        private func refuse(_ problem: Problem) {
            packed.toll?.payBack()
            packed.answer.send(problem)
        }
    }

    private func queueAtLength(_ task: Task) {
        heavy.submit(task.job { [self] in finish(task, upTo: .max) })
    }

    /// On this thread or a lane's. What unpacks to more than this begins again in the heavy lane.
    private func finish(_ task: Task, upTo most: Int) {
        let (packed, body) = (task.packed, task.packed.body)
        // Others may have used up the allowance while it waited.
        if let seconds = packed.toll?.wait {
            packed.toll?.payBack()
            return packed.answer.send(Problem(rateLimitedFor: seconds))
        }
        do throws(PackedBody.Fault) {
            task.receive(Unpacked(packed: packed, body: try body.unpacked(upTo: min(most, body.limit), packed.toll)))
        } catch {
            switch error {
            case .tooLarge where most < body.limit: queueAtLength(task)
            case .tooLarge: packed.answer.send(body.tooLarge)
            case .rateLimited(let seconds): packed.answer.send(Problem(rateLimitedFor: seconds))
            case .notUnpackable(let reason): packed.answer.send(Problem(.notUnpackable, reason))
            }
        }
    }
}
