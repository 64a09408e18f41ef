internal import Accounts
internal import Postgres
internal import ServiceRuntime

/// Moves a generation to a position of the log, beside others that may be moving it.
struct CatchUp {
    let url: String
    let role: LogSession.Role?
    let choice: Lane.Choice
    var projectors = Projectors.all
    let lanes: Int
    let mostEvents: Int64
    let log: Log
    var cancellation = Cancellation()

    /// Called now and then with the position that the shards have reached on average.
    typealias Progress = @Sendable (_ position: Int64) -> Void

    private struct State: Sendable {
        var failure: (any Error)?
        /// Steps of all lanes that moved shards.
        var moves = 0
    }

    /// Returns when all shards are at or past `target`, no matter who moved them, or when the generation has stopped.
    func run(to target: Int64, progress: @escaping Progress = { _ in }) throws {
        let worker = DatabaseWorker(State())
        worker.start((0..<lanes).map { "catch up \($0)" }) { lane in
            follow(to: target, worker, lane == 0 ? progress : { _ in })
        }
        worker.join()
        if let failure = worker.withLock({ state in state.failure }) { throw failure }
    }

    private func follow(to target: Int64, _ worker: DatabaseWorker<State>, _ progress: Progress) {
        var stepper = Stepper(choice: choice, projectors: projectors, mostEvents: mostEvents, log: log)
        // A failure does not count if another lane has moved shards meanwhile: connections may fail any number of
        // times.
        var attempts = 0
        var seen = 0
        worker.keep(Backoff(first: 0.1, most: 2)) { () throws(any Error) -> Connection? in
            try ProjectionSession.open(url: url, role: role, purpose: "catching up", log: log)
        } work: { connection, backoff throws(any Error) in
            stepper.beginConnection()
            while !worker.isStopping {
                try cancellation.check()
                connection.deadline = .after(seconds: Double(ProjectionSession.statementSeconds) + 30)
                let backlog = try Backlog.read(choice, on: &connection)
                guard let position = backlog.position else { throw StepError.generationIsGone }
                progress(backlog.meanPosition)
                guard position < target else { return worker.askToStop() }
                let outcome = try cancellation.during(&connection) { connection in
                    return try stepper.step(upTo: target, mostShards: backlog.share(of: lanes), on: &connection)
                }
                attempts = 0
                backoff.reset()
                if case .moved = outcome {
                    worker.withLock { state in state.moves += 1 }
                    continue
                }
                if try Self.hasStopped(choice, before: target, on: &connection) { return worker.askToStop() }
                // Somebody else is moving the remaining shards.
                worker.rest(0.02)
            }
        } failed: { error, _ in
            let moves = worker.withLock { state in state.moves }
            attempts = moves == seen ? attempts + 1 : 1
            seen = moves
            guard attempts < 10, (error as? PostgresError)?.isRetriable ?? (error as? StepError)?.isRetriable ?? false
            else {
                worker.withLock { state in state.failure = state.failure ?? error }
                return worker.askToStop()
            }
        }
    }

    /// Whether the fold itself has stopped in all shards, so that nobody can move the generation.
    private static func hasStopped(
        _ choice: Lane.Choice, before target: Int64, on connection: inout Connection
    ) throws(PostgresError) -> Bool {
        let running: Bool = try connection.query(
            """
            SELECT EXISTS (
                SELECT FROM projection.projector AS p JOIN projection.progress AS g ON g.generation = p.generation
                WHERE p.generation = projection.chosen_generation(\(choice.generation)) AND p.name = \(DeliveryTable.projector)
                    AND g.position < least(p.stopped_batch - 1, \(target)))
            """
        ).value()
        return !running
    }
}
