internal import EventLog
internal import HTTPServer
internal import ServiceRuntime
internal import Telemetry

/// Gathers what became of a request's events from the writers that had a part of them; the last one answers.
final class VerdictCollector: Sendable {
    /// What a client is told.
    struct Result: Sendable {
        let response: Response
        /// Events by result, for the metrics.
        let counts: [String: Int]
    }

    private struct State {
        var verdicts: [Verdict?]
        var waitingFor = 0
        var isLost = false
    }

    private let state: Lock<State>
    private let ids: [UUID?]
    private let done: @Sendable (Result?) -> Void

    init(_ envelope: DecodedEnvelope, _ done: @escaping @Sendable (Result?) -> Void) {
        self.done = done
        ids = envelope.items.map { item in
            switch item {
            case .event(let event): event.id
            case .rejected(let id, _, _): id
            }
        }
        state = Lock(
            State(
                verdicts: envelope.items.map { item in
                    if case .rejected(_, _, let rejection) = item { .rejected(rejection) } else { nil }
                }))
    }

    /// Announces a part before any is submitted.
    func expect() {
        state.withLock { state in state.waitingFor += 1 }
    }

    /// One part is committed (its verdicts, for the events at these indexes) or lost.
    func finish(_ indexes: [Int], _ verdicts: [Verdict]?) {
        let all: [Verdict?]?? = state.withLock { state in
            state.waitingFor -= 1
            if let verdicts {
                for (index, verdict) in zip(indexes, verdicts) { state.verdicts[index] = verdict }
            } else {
                state.isLost = true
            }
            guard state.waitingFor == 0 else { return nil }
            return .some(state.isLost ? nil : state.verdicts)
        }
        guard let all else { return }
        done(all.flatMap(result))
    }

    /// An envelope that had nothing for any writer.
    func finishEmpty() {
        done(result(state.withLock { state in state.verdicts }))
    }

    /// Nil when an event has no verdict: what nobody vouches for is not acknowledged.
    private func result(_ verdicts: [Verdict?]) -> Result? {
        var outcome = OutcomeWriter()
        for (id, verdict) in zip(ids, verdicts) {
            guard let verdict else { return nil }
            outcome.add(verdict, id: id?.description)
        }
        return Result(response: outcome.response, counts: outcome.counts)
    }
}
