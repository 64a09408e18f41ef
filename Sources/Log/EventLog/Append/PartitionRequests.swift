package import ServiceRuntime
package import Values

/// Knows which months have a partition, so that writers can ask for a new month at its first event: if it is created
/// late, rows have to move.
package final class PartitionRequests: Sendable {
    private struct State {
        var known: Set<CivilDate> = []
        var wanted: Set<CivilDate> = []
        var isClosed = false
    }

    private let state = Lock(State())
    /// Clocks can show anything; more requests than this at a time are nonsense.
    private static let mostWanted = 200

    package init() {}

    /// Notes that events of these times, in order, are about to be written.
    func note(_ times: some BidirectionalCollection<Timestamp>) {
        guard let first = times.first, let last = times.last else { return }
        let ends = Set([CivilDate(monthOf: first), CivilDate(monthOf: last)])
        if ends.count == 1, state.withLock({ state in state.known.isSuperset(of: ends) }) { return }
        let months = Set(times.map(CivilDate.init(monthOf:)))
        state.withLockNotifying { state in
            for month in months.subtracting(state.known) where state.wanted.count < PartitionRequests.mostWanted {
                state.wanted.insert(month)
            }
        }
    }

    /// Notes that these months have a partition, or will not get one.
    func settle(_ months: some Sequence<CivilDate>) {
        state.withLock { state in state.known.formUnion(months) }
    }

    /// Waits for requested months; returns none after the deadline, or once closed.
    package func wanted(until deadline: Deadline) -> Set<CivilDate> {
        state.wait(until: deadline) { state in
            guard !state.wanted.isEmpty || state.isClosed else { return nil }
            defer { state.wanted = [] }
            return state.wanted
        } ?? []
    }

    /// Ends all waiting.
    package func close() {
        state.withLockNotifying { state in state.isClosed = true }
    }
}

extension CivilDate {
    /// The first day of the month that a moment lies in, in UTC.
    init(monthOf time: Timestamp) {
        let day = CivilDate(daysSince1970: Int((Double(time.microseconds) / 86_400_000_000).rounded(.down)))
        self = CivilDate(year: day.year, month: day.month, day: 1) ?? day
    }
}
