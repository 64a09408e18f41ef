internal import EventLog
internal import HTTPServer
internal import ServiceRuntime
internal import Telemetry
internal import Values

/// Gathers what became of a request's events from the writers that had a part of them; the last one answers.
final class VerdictCollector: Sendable {
    /// What a client is told.
    struct Result: Sendable {
        let response: Response
        /// Events by result, for the metrics.
        let counts: [String: Int]
    }

    /// What became of the request.
    enum Outcome: Sendable {
        case settled(Result)
        /// Its key was closed before all of it was committed.
        case keyClosed
        /// Nothing is promised.
        case lost
    }

    private struct State {
        var verdicts: [Verdict?]
        var waitingFor: Int
        var isLost = false
        var isKeyClosed = false
    }

    private let state: Lock<State>
    private let ids: [UUID?]
    private let done: @Sendable (Outcome) -> Void

    /// `parts` of them will be finished. Where there is none, nothing else decides: it is answered at once.
    init(_ envelope: DecodedEnvelope, parts: Int, _ done: @escaping @Sendable (Outcome) -> Void) {
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
                }, waitingFor: parts))
        if parts == 0 { done(outcome(state.withLock { state in state.verdicts })) }
    }

    /// One part is through; if it is committed, with a verdict for each of the events at these indexes.
    func finish(_ indexes: [Int], _ fate: GroupCommit.Fate) {
        let last: State? = state.withLock { state in
            state.waitingFor -= 1
            switch fate {
            case .committed(let verdicts):
                for (index, verdict) in zip(indexes, verdicts) { state.verdicts[index] = verdict }
            case .keyClosed: state.isKeyClosed = true
            case .lost: state.isLost = true
            }
            return state.waitingFor == 0 ? state : nil
        }
        guard let last else { return }
        // To come again would be in vain.
        if last.isKeyClosed { return done(.keyClosed) }
        done(last.isLost ? .lost : outcome(last.verdicts))
    }

    /// An event without a verdict: what nobody vouches for is not acknowledged.
    private func outcome(_ verdicts: [Verdict?]) -> Outcome {
        var outcome = OutcomeWriter()
        for (id, verdict) in zip(ids, verdicts) {
            guard let verdict else { return .lost }
            outcome.add(verdict, id: id?.description)
        }
        return .settled(Result(response: outcome.response, counts: outcome.counts))
    }
}
