package import Postgres
package import ServiceRuntime
package import Values

/// Notes in the database where the time of a process went lately, for `status` and `doctor`, which are other processes.
package final class PhaseNotes: Sendable {
    /// A kind of work that is divided into phases.
    package enum Work: String, Sendable { case step, commit }

    private struct Source: Sendable {
        let work: Work
        let totals: @Sendable () -> PhaseTotals
        /// The totals of the last minute, the oldest first.
        var known: [(at: Deadline, totals: PhaseTotals)] = []
    }

    private struct State: Sendable {
        var sources: [Source] = []
        var next = Deadline.now
    }

    /// Often enough for somebody who waits for the answer, and seldom enough to cost nothing.
    private static let secondsBetween = 5.0
    /// What is noted goes back a minute.
    private static let notes = 12

    private let state = Lock(State())
    private let node: String

    package init(node: String) { self.node = node }

    package func add(_ work: Work, _ totals: @escaping @Sendable () -> PhaseTotals) {
        let known = (at: Deadline.now, totals: totals())
        state.withLock { $0.sources.append(Source(work: work, totals: totals, known: [known])) }
    }

    /// Notes where the time of the last minute went, every few seconds, and nothing of what stood idle since the last
    /// time. A failure is only logged: the service works without it.
    package func note(on connection: inout Connection, log: Log) throws(PostgresError) {
        let now = Deadline.now
        let sources = state.withLock { state in
            guard state.next <= now else { return [Source]() }
            state.next = now.later(by: Self.secondsBetween)
            return state.sources
        }
        for (place, source) in sources.enumerated() {
            guard let first = source.known.first, let last = source.known.last else { continue }
            let totals = source.totals()
            state.withLock { state in
                state.sources[place].known.append((now, totals))
                if source.known.count == Self.notes { state.sources[place].known.removeFirst() }
            }
            let (minute, news) = (totals.since(first.totals), totals.since(last.totals))
            guard news.pieces > 0 || news.seconds.contains(where: { $0 > 0 }) else { continue }
            do {
                try connection.queryPrepared(
                    """
                    SELECT log.note_phases(\(node), \(source.work.rawValue), \(now.seconds(since: first.at)),
                        \(Int64(minute.pieces)), \(minute.names), \(minute.seconds))
                    """)
            } catch {
                guard connection.isUsable, !error.isUnavailable else { throw error }
                log.debug("it could not be noted where the time went", ["error": "\(error)"])
            }
        }
    }
}

/// Where the time of some work of one process went within a minute.
package struct PhaseReading: Sendable {
    package let node: String
    package let work: String
    package let notedAt: Timestamp
    package let windowSeconds: Double
    package let pieces: Int64
    package let phases: [(name: String, seconds: Double)]

    /// Of each process that noted any within so many seconds, the last first.
    package static func lately(
        within seconds: Double, on connection: inout Connection
    ) throws(PostgresError) -> [PhaseReading] {
        let rows = try connection.query(
            """
            SELECT node, work, noted_at, window_seconds, pieces, phases, seconds FROM log.phase_time
            WHERE noted_at > clock_timestamp() - \(seconds) * interval '1 second'
            ORDER BY noted_at DESC, node, work
            """)
        var readings: [PhaseReading] = []
        for row in rows {
            let (names, spent): ([String], [Double]) = (try row.get(5), try row.get(6))
            readings.append(
                PhaseReading(
                    node: try row.get(0), work: try row.get(1), notedAt: try row.get(2),
                    windowSeconds: try row.get(3), pieces: try row.get(4), phases: zip(names, spent).map { ($0, $1) }))
        }
        return readings
    }
}
