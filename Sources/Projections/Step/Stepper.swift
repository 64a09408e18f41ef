internal import Postgres
internal import ServiceRuntime

/// Takes steps, and when one fails for good finds out what stands in the way: halves the range until a single batch is
/// left, then stops who cannot take it and goes on with the others. A step that takes long is followed by smaller ones.
struct Stepper {
    var choice: Lane.Choice
    var projectors = Projectors.all
    let log: Log
    var limits = Step.Limits()

    /// Events of one step.
    private var mostEvents: Int64
    private let mostEventsEver: Int64
    private var care = Care.none
    /// Steps since one took too long.
    private var goodSteps = 0

    /// How much less is taken at once after steps that ran into their timeout.
    private enum Care: Int {
        case none
        case fewBatches
        case oneBatch
        case patience
    }

    init(choice: Lane.Choice, projectors: [any Projector.Type] = Projectors.all, mostEvents: Int64, log: Log) {
        (self.choice, self.projectors, self.log) = (choice, projectors, log)
        (self.mostEvents, mostEventsEver) = (mostEvents, mostEvents)
    }

    /// What became of a step.
    enum Outcome {
        /// There was nothing to do, or all that there was is being done by somebody else.
        case nothing
        case moved(events: Int64)
    }

    /// Takes one step towards `last`. Throws what no projection is to blame for: a later attempt may succeed.
    mutating func step(
        upTo last: Int64, mostShards: Int32, on connection: inout Connection
    ) throws(StepError) -> Outcome {
        let step = Step(
            choice: choice, projectors: projectors, last: last, mostShards: mostShards, mostEvents: mostEvents,
            limits: limits)
        var batches = BatchRange.mostBatches
        do {
            let (long, short) = (Deadline.after(seconds: 5), Deadline.after(seconds: 1))
            let taken = outcome(try step.take(manner, on: &connection))
            adapt(wasLong: long.hasPassed, wasShort: !short.hasPassed)
            return taken
        } catch {
            if error.isTooSlow {
                care = Care(rawValue: care.rawValue + 1) ?? care
                goodSteps = 0
            }
            switch error {
            case .cannotTell(let count, _): batches = count / 2
            case _ where error.blamesProjection: break
            default: throw error
            }
            log.debug("a step failed: trying smaller ones to find the cause", ["error": "\(error)"])
        }
        while true {
            do {
                return outcome(try step.take(.careful(batches: batches), on: &connection))
            } catch {
                guard case .cannotTell(let count, _) = error else { throw error }
                batches = count / 2
            }
        }
    }

    private var manner: Step.Manner {
        switch care {
        case .none: .plain
        case .fewBatches: .careful(batches: 4)
        case .oneBatch: .careful(batches: 1)
        case .patience: .careful(batches: 1, isPatient: true)
        }
    }

    /// While a step lasts nobody else moves its shards: one of a few seconds is long.
    private mutating func adapt(wasLong: Bool, wasShort: Bool) {
        if wasLong { mostEvents = max(mostEvents / 2, 500) }
        if wasShort { mostEvents = min(mostEvents * 2, mostEventsEver) }
        goodSteps += 1
        guard goodSteps % 16 == 0, let less = Care(rawValue: care.rawValue - 1) else { return }
        care = less
    }

    private func outcome(_ taken: Step.Taken?) -> Outcome {
        guard let taken else { return .nothing }
        if taken.stops.contains(where: \.isOutdated) {
            log.warning(
                "projections stand still: they were counted by older rules and must be rebuilt (bellwether rebuild)",
                ["projections": taken.stops.map(\.name).joined(separator: " "), "reason": taken.stops[0].reason])
        } else if taken.stops.contains(where: { $0.name == DeliveryTable.projector }) {
            log.error(
                "all projections have stopped: fix the cause, then run bellwether rebuild",
                ["batch": "\(taken.stops[0].batch)", "reason": taken.stops[0].reason])
        } else {
            for stop in taken.stops {
                log.error(
                    "a projection has stopped: fix the cause, then run bellwether projection resume \(stop.name)",
                    ["projection": stop.name, "batch": "\(stop.batch)", "reason": stop.reason])
            }
        }
        // Who has stopped now is left out by the next step: there is something to do.
        return taken.hasMoved || !taken.stops.isEmpty ? .moved(events: taken.events) : .nothing
    }
}
