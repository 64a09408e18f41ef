internal import Envelopes
internal import EventLog
internal import HTTPServer
internal import ServiceRuntime
internal import Values

/// Collects the verdicts on a request's events from the writers that have a part of it. The last writer answers.
final class VerdictCollector: Sendable {
    /// The result of the request.
    enum RequestResult: Sendable {
        case settled(ResultWriter)
        /// Its key was closed before all of it was committed.
        case keyClosed
        /// The map of shards has changed: some of it belongs to another cell.
        case elsewhere
        /// It may or may not be stored.
        case lost
    }

    private struct State {
        var waitingFor: Int
        /// How many events have a verdict.
        var settled = 0
        var exceptions: [(index: Int, verdict: Verdict)] = []
        var isLost = false
        var isKeyClosed = false
        var isElsewhere = false
    }

    private let state: Lock<State>
    private let envelope: DecodedEnvelope
    private let done: @Sendable (RequestResult) -> Void

    /// Waits for that many parts. Without parts, it answers at once.
    init(_ envelope: DecodedEnvelope, parts: Int, _ done: @escaping @Sendable (RequestResult) -> Void) {
        self.done = done
        self.envelope = envelope
        let state = State(
            waitingFor: parts, settled: envelope.rejected.count,
            exceptions: envelope.rejected.map { ($0.index, .rejected($0.rejection)) })
        self.state = Lock(state)
        if parts == 0 { done(outcome(of: state)) }
    }

    /// Takes the result of one part.
    func finish(_ fate: GroupCommit.Fate) {
        let last: State? = state.withLock { state in
            state.waitingFor -= 1
            switch fate {
            case .committed(let verdicts):
                state.settled += verdicts.count
                state.exceptions += verdicts.exceptions
            case .keyClosed: state.isKeyClosed = true
            case .elsewhere: state.isElsewhere = true
            case .lost: state.isLost = true
            }
            return state.waitingFor == 0 ? state : nil
        }
        guard let last else { return }
        // Trying again would not help.
        if last.isKeyClosed { return done(.keyClosed) }
        done(last.isLost ? .lost : last.isElsewhere ? .elsewhere : outcome(of: last))
    }

    /// An event without a verdict is not acknowledged.
    private func outcome(of state: State) -> RequestResult {
        guard state.settled == envelope.count else { return .lost }
        return .settled(ResultWriter(envelope, state.exceptions))
    }
}

extension ResultWriter {
    /// The events of an envelope that are not among the exceptions were accepted.
    init(_ envelope: DecodedEnvelope, _ exceptions: [(index: Int, verdict: Verdict)]) {
        self.init(count: envelope.count)
        var rejected = envelope.rejected[...]
        for (index, verdict) in exceptions.sorted(by: { $0.index < $1.index }) {
            while let first = rejected.first, first.index < index { rejected.removeFirst() }
            let id = rejected.first?.index == index ? rejected.first?.id : envelope.events[index].id
            add(verdict, at: index, id: id?.description)
        }
    }
}
