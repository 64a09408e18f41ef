internal import Postgres
internal import ServiceRuntime

/// Takes steps. When one fails for good, it halves the range until it finds the single batch that fails, stops the
/// projector that cannot take it, and goes on with the others. After a slow step it takes smaller ones.
struct Stepper {
    var choice: Lane.Choice
    var projectors = Projectors.all
    let log: Log
    var limits = Step.Limits()
    var watch: PhaseWatch<StepPhase>?

    /// The most events in a step.
    private(set) var mostEvents: Int64
    private let mostEventsEver: Int64
    private let care: StepCare
    private let words = EventWords()

    /// Lanes of one runner share their care: the shards that cannot move pass from lane to lane.
    init(
        choice: Lane.Choice, projectors: [any Projector.Type] = Projectors.all, mostEvents: Int64,
        sharing care: StepCare = StepCare(), log: Log
    ) {
        (self.choice, self.projectors, self.care, self.log) = (choice, projectors, care, log)
        (self.mostEvents, mostEventsEver) = (mostEvents, mostEvents)
    }

    /// Forgets what it learned through another connection. While none was open, the server may have gone back to an
    /// earlier moment, and may have given the ids of lost words to others since.
    func beginConnection() { words.forget() }

    /// The result of a step.
    enum StepResult {
        /// There was nothing to do, or others are doing all of it.
        case nothing
        case moved(events: Int64)
    }

    /// Takes one step towards `last`. Throws errors that no projection caused: a later attempt may succeed.
    mutating func step(
        upTo last: Int64, mostShards: Int32, on connection: inout Connection
    ) throws(StepError) -> StepResult {
        let step = Step(
            choice: choice, projectors: projectors, last: last, mostShards: mostShards, mostEvents: mostEvents,
            limits: limits, watch: watch, words: words)
        var batches = BatchRange.mostBatches
        var begun: (level: StepCare.Level, position: Int64)?
        do {
            let (long, short) = (Deadline.after(seconds: 5), Deadline.after(seconds: 1))
            let taken = try step.take(
                choosing: { position in
                    let level = care.level(at: position)
                    begun = (level, position)
                    return level.manner
                }, on: &connection)
            if let move = taken?.moved {
                adapt(wasLong: long.hasPassed, wasShort: !short.hasPassed)
                care.noteGoodStep(from: move.start, to: move.end)
            }
            return outcome(taken)
        } catch {
            if error.isTooSlow, let begun { care.raise(above: begun.level, at: begun.position) }
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

    /// No other process can move its shards during a step, so a step of a few seconds is too long.
    private mutating func adapt(wasLong: Bool, wasShort: Bool) {
        if wasLong { mostEvents = max(mostEvents / 2, 500) }
        if wasShort { mostEvents = min(mostEvents * 2, mostEventsEver) }
    }

    private func outcome(_ taken: Step.Taken?) -> StepResult {
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
        // A projector that stopped now is left out of the next step, so there is more to do.
        return taken.moved != nil || !taken.stops.isEmpty ? .moved(events: taken.events) : .nothing
    }
}
