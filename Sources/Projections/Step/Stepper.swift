internal import Postgres
internal import ServiceRuntime

/// Takes steps, and when one fails for good finds out what stands in the way: halves the range until a single batch is
/// left, then stops who cannot take it and goes on with the others.
struct Stepper {
    var choice: Lane.Choice
    var projectors = Projectors.all
    var mostEvents: Int64
    let log: Log

    /// What became of a step.
    enum Outcome {
        /// There was nothing to do, or all that there was is being done by somebody else.
        case nothing
        case moved(events: Int64)
    }

    /// Takes one step towards `last`. Throws what no projection is to blame for: a later attempt may succeed.
    func step(
        upTo last: Int64, mostShards: Int32, on connection: inout Connection
    ) throws(StepError) -> Outcome {
        let step = Step(
            choice: choice, projectors: projectors, last: last, mostShards: mostShards, mostEvents: mostEvents)
        do {
            return outcome(try step.take(.plain, on: &connection))
        } catch {
            guard error.blamesProjection else { throw error }
            log.debug("a step failed and is taken with care", ["error": "\(error)"])
        }
        var batches = BatchRange.mostBatches
        while true {
            do {
                return outcome(try step.take(.careful(batches: batches), on: &connection))
            } catch {
                guard case .cannotTell(let count, _) = error else { throw error }
                batches = count / 2
            }
        }
    }

    private func outcome(_ taken: Step.Taken?) -> Outcome {
        guard let taken else { return .nothing }
        if taken.stops.contains(where: \.isOutdated) {
            log.warning(
                "projections stand still, since they were counted by older rules, until they are made anew (bellwether rebuild)",
                ["projections": taken.stops.map(\.name).joined(separator: " "), "reason": taken.stops[0].reason])
        } else if taken.stops.contains(where: { $0.name == DeliveryTable.projector }) {
            log.error(
                "all projections have stopped: mend the cause, then run bellwether rebuild",
                ["batch": "\(taken.stops[0].batch)", "reason": taken.stops[0].reason])
        } else {
            for stop in taken.stops {
                log.error(
                    "a projection has stopped: mend the cause, then run bellwether projection resume \(stop.name)",
                    ["projection": stop.name, "batch": "\(stop.batch)", "reason": stop.reason])
            }
        }
        // Who has stopped now is left out by the next step: there is something to do.
        return taken.hasMoved || !taken.stops.isEmpty ? .moved(events: taken.events) : .nothing
    }
}
