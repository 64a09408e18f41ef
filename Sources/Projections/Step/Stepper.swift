internal import Postgres
internal import ServiceRuntime

/// Takes steps, and when one fails for good finds out what stands in the way: halves the range until a single batch is
/// left, then stops the projector that cannot take it and goes on with the others.
struct Stepper {
    var choice: Lane.Choice
    var mostEvents: Int64
    let log: Log

    /// What became of a step.
    enum Outcome {
        /// There was nothing to do, or all that there was is being done by somebody else.
        case nothing
        case moved(events: Int64)
    }

    /// Takes one step towards `last`. Throws what a later attempt may mend.
    func step(
        upTo last: Int64, mostShards: Int32, on connection: inout Connection
    ) throws(StepError) -> Outcome {
        let step = Step(choice: choice, last: last, mostShards: mostShards, mostEvents: mostEvents)
        do {
            return outcome(try step.take(.plain, on: &connection))
        } catch {
            guard !error.isRetriable else { throw error }
            log.debug("a step failed and is taken with care", ["error": "\(error)"])
        }
        var batches = BatchRange.mostBatches
        while true {
            do {
                return outcome(try step.take(.careful(batches: batches), on: &connection))
            } catch {
                guard !error.isRetriable else { throw error }
                if batches == 1 { return try stopAll(step, because: error, on: &connection) }
                batches /= 2
            }
        }
    }

    private func outcome(_ taken: Step.Taken?) -> Outcome {
        guard let taken else { return .nothing }
        for stop in taken.stops {
            log.error(
                "a projection has stopped: mend the cause, then run bellwether projection resume \(stop.name)",
                ["projection": stop.name, "batch": "\(stop.batch)", "reason": stop.reason])
        }
        return .moved(events: taken.events)
    }

    /// The fold itself cannot go on: no funnel can.
    private func stopAll(
        _ step: Step, because error: StepError, on connection: inout Connection
    ) throws(StepError) -> Outcome {
        try connection.atomically { connection in
            guard let lane = try Lane.claim(choice, behind: step.last, atMost: step.mostShards, on: &connection) else {
                return
            }
            for member in lane.members {
                let stop = Step.Stop(name: member.name, batch: lane.position + 1, reason: "\(error)")
                try stop.record(in: lane.line, on: &connection)
            }
            log.error(
                "all projections have stopped: mend the cause, then run bellwether rebuild",
                ["batch": "\(lane.position + 1)", "reason": "\(error)"])
        }
        return .nothing
    }
}
