/// A part of work that repeats, such as reading in a step of the funnels. Raw values count from 0.
package protocol WorkPhase: RawRepresentable<Int>, CaseIterable, Sendable {
    /// As metrics, `status` and `doctor` call it.
    var name: String { get }
}

/// The metric of the phases of some work: a distribution of each.
package struct PhaseHistograms<Phase: WorkPhase>: Sendable {
    fileprivate let each: [Histogram]

    package init(_ metrics: Metrics, _ name: String, _ help: String) {
        each = metrics.histograms(
            name, help, buckets: [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60], label: "phase",
            values: Phase.allCases.map(\.name))
    }
}

/// Where the time of some work goes that one database gets of this process, over all threads that do it.
package final class PhaseTimes<Phase: WorkPhase>: Sendable {
    private let histograms: PhaseHistograms<Phase>
    private let clocks = Lock<[PhaseClock]>([])

    package init(_ histograms: PhaseHistograms<Phase>) { self.histograms = histograms }

    /// For one more thread.
    package func watch() -> PhaseWatch<Phase> {
        let clock = PhaseClock(histograms.each)
        clocks.withLock { $0.append(clock) }
        return PhaseWatch(clock: clock)
    }

    package var totals: PhaseTotals {
        var sum = PhaseTotals(names: Phase.allCases.map(\.name))
        for clock in clocks.withLock({ $0 }) { clock.addTotals(to: &sum) }
        return sum
    }
}

/// The seconds that work spent in each of its phases since the process began, and how many pieces were done.
package struct PhaseTotals: Sendable {
    package let names: [String]
    package fileprivate(set) var seconds: [Double]
    package fileprivate(set) var pieces = 0

    fileprivate init(names: [String]) {
        self.names = names
        seconds = [Double](repeating: 0, count: names.count)
    }

    /// What was added since.
    package func since(_ earlier: PhaseTotals?) -> PhaseTotals {
        guard let earlier, earlier.seconds.count == seconds.count else { return self }
        var difference = self
        difference.pieces -= earlier.pieces
        for place in seconds.indices { difference.seconds[place] = max(0, seconds[place] - earlier.seconds[place]) }
        return difference
    }
}

/// Divides the time of pieces of work into phases: each moment belongs to the phase that was entered last. One thread
/// works; any thread may read the totals, and sees how long the present phase has lasted so far. It reads the clock
/// once for each phase, however much the piece has to do, and allocates nothing.
package struct PhaseWatch<Phase: WorkPhase>: Sendable {
    @usableFromInline let clock: PhaseClock

    /// The work is in this phase from now on. Returns the phase in which it was.
    @discardableResult
    @inlinable package func enter(_ phase: Phase) -> Phase? { Phase(rawValue: clock.enter(phase.rawValue)) }

    /// The present phase turns out to have been another one for so many seconds; nil: until now.
    package func attribute(_ seconds: Double?, to phase: Phase) { clock.attribute(seconds, to: phase.rawValue) }

    /// Adds time that passed before the piece was begun.
    package func add(_ seconds: Double, to phase: Phase) { clock.add(seconds, to: phase.rawValue) }

    /// The piece is done, or has failed; `counts` is false if there was nothing to do.
    package func end(counts: Bool = true) { clock.end(counts: counts) }
}

/// A watch that knows phases by their numbers, since generic code is not specialised in other modules.
@usableFromInline
final class PhaseClock: Sendable {
    private static let none = -1

    private struct State: Sendable {
        var ofPiece: [Double]
        var ofAll: [Double]
        var pieces = 0
        var present = PhaseClock.none
        var since = Deadline.now

        mutating func add(_ seconds: Double, to phase: Int) {
            ofPiece[phase] += seconds
            ofAll[phase] += seconds
        }

        /// Ends the present phase.
        mutating func close(at now: Deadline) {
            if present != PhaseClock.none { add(now.seconds(since: since), to: present) }
            since = now
        }
    }

    private let state: Lock<State>
    private let histograms: [Histogram]

    fileprivate init(_ histograms: [Histogram]) {
        self.histograms = histograms
        let nothing = [Double](repeating: 0, count: histograms.count)
        state = Lock(State(ofPiece: nothing, ofAll: nothing))
    }

    /// Returns the phase in which it was, -1 for none.
    @usableFromInline
    func enter(_ phase: Int) -> Int {
        let now = Deadline.now
        return state.withLock { state in
            state.close(at: now)
            defer { state.present = phase }
            return state.present
        }
    }

    func attribute(_ seconds: Double?, to phase: Int) {
        let now = Deadline.now
        state.withLock { state in
            let past = now.seconds(since: state.since)
            let others = seconds.map { min(max(0, $0), past) } ?? past
            state.add(others, to: phase)
            if state.present != Self.none { state.add(past - others, to: state.present) }
            state.since = now
        }
    }

    func add(_ seconds: Double, to phase: Int) {
        state.withLock { $0.add(seconds, to: phase) }
    }

    func end(counts: Bool) {
        let now = Deadline.now
        state.withLock { state in
            state.close(at: now)
            state.present = Self.none
            if counts { state.pieces += 1 }
            for place in state.ofPiece.indices {
                if counts { histograms[place].observe(state.ofPiece[place]) }
                state.ofPiece[place] = 0
            }
        }
    }

    fileprivate func addTotals(to sum: inout PhaseTotals) {
        let now = Deadline.now
        // With the lock held: an array that leaves it would be shared with the thread that adds to it.
        state.withLock { state in
            for place in state.ofAll.indices { sum.seconds[place] += state.ofAll[place] }
            if state.present != Self.none { sum.seconds[state.present] += now.seconds(since: state.since) }
            sum.pieces += state.pieces
        }
    }
}
