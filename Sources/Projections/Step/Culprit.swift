internal import Postgres

/// Finds out, within a careful step, who cannot take its batches, and stops it there.
struct Culprit {
    private let lane: Lane
    private let range: BatchRange
    /// Why the last attempt failed.
    private var reason = ""

    init(lane: Lane, range: BatchRange) {
        self.lane = lane
        self.range = range
    }

    /// Runs a part of the step. Nil when it failed for good, and this was the step's only batch; its work is undone then. Of
    /// several batches nobody could say which it was: throws.
    mutating func attempt<Result>(
        on connection: inout Connection, _ part: (inout Connection) throws -> Result
    ) throws -> Result? {
        try connection.execute(script: "SAVEPOINT attempt")
        do {
            let result = try part(&connection)
            try connection.execute(script: "RELEASE attempt")
            return result
        } catch {
            let error = StepError(error)
            guard !error.isRetriable else { throw error }
            guard range.batches.count == 1 else {
                throw StepError.cannotTell(batches: Int32(range.batches.count), "\(error)")
            }
            try connection.execute(script: "ROLLBACK TO attempt")
            reason = "\(error)"
            return nil
        }
    }

    /// Stops these at the batch that the last attempt could not take.
    func stop(_ names: [String], on connection: inout Connection) throws(PostgresError) -> [Step.Stop] {
        var stops: [Step.Stop] = []
        for name in names {
            let stop = Step.Stop(name: name, batch: lane.position + 1, reason: reason)
            if try stop.record(in: lane.line, on: &connection) { stops.append(stop) }
        }
        return stops
    }
}

extension Step.Stop {
    /// Where analysts and operators see it. Of two stops the earlier batch stays, and of one batch the first reason; says
    /// whether it is this one.
    func record(in line: Int32, on connection: inout Connection) throws(PostgresError) -> Bool {
        try connection.query(
            """
            UPDATE projection.projector
            SET stopped_at = clock_timestamp(), stopped_batch = \(batch), stopped_because = \(reason)
            WHERE line = \(line) AND name = \(name) AND (stopped_batch IS NULL OR stopped_batch > \(batch))
            """
        ).affected == 1
    }
}
