internal import Console
internal import EventLog
internal import Health
internal import Postgres
internal import Projections
internal import ServiceRuntime

extension Examination {
    /// Where the time of the funnels' steps goes when they fall behind.
    static let steps = Examination(name: "steps", isOfCells: true) { _, connection in
        let lag = try ProjectionStatus.all(on: &connection).filter { $0.stop == nil }.map(\.lagSeconds).max() ?? 0
        let sums = PhaseSums(.step, of: try PhaseReading.lately(within: PhaseSums.seconds, on: &connection))
        // Normally they are a quarter of a second behind.
        guard lag >= 5, let most = sums.most, let phase = StepPhase.allCases.first(where: { $0.name == most.name })
        else { return .ok(sums.sentence("step")) }
        return .warn(
            "the funnels are \(Int(saturating: lag)) s behind, and \(most.percent) % of the time of their steps goes "
                + "into \(phase.name): \(phase.meaning)", do: phase.remedy, see: .funnelsBehind)
    }

    /// Where the time of commits goes when they are slow.
    static let commits = Examination(name: "commits", isOfCells: true) { _, connection in
        let sums = PhaseSums(.commit, of: try PhaseReading.lately(within: PhaseSums.seconds, on: &connection))
        guard sums.secondsEach >= 0.5, let most = sums.most,
            let phase = CommitPhase.allCases.first(where: { $0.name == most.name })
        else { return .ok(sums.sentence("commit")) }
        return .warn(
            "a commit takes \(rounded(sums.secondsEach)) s, and \(most.percent) % of that goes into "
                + "\(phase.name): \(phase.meaning)", do: phase.remedy, see: .commitsSlow)
    }
}

/// Where the time went that all processes spent on some work, within the last minute.
private struct PhaseSums {
    static let seconds = 60.0

    private var phases: [(name: String, seconds: Double)] = []
    private var pieces: Int64 = 0

    init(_ work: PhaseNotes.Work, of readings: [PhaseReading]) {
        for reading in readings where reading.work == work.rawValue {
            pieces += reading.pieces
            // Who waits for others says nothing about what takes so long.
            for (name, seconds) in reading.phases where name != CommitPhase.wait.name {
                if let place = phases.firstIndex(where: { $0.name == name }) {
                    phases[place].seconds += seconds
                } else {
                    phases.append((name, seconds))
                }
            }
        }
    }

    private var all: Double { phases.reduce(0) { $0 + $1.seconds } }

    /// Of a piece; while the first one has not ended, of that.
    var secondsEach: Double { all / Double(max(1, pieces)) }

    /// The phase that takes more time than all others together.
    var most: (name: String, percent: Int)? {
        guard let most = phases.max(by: { $0.seconds < $1.seconds }), most.seconds > all / 2 else { return nil }
        return (most.name, Int(saturating: 100 * most.seconds / all))
    }

    func sentence(_ piece: String) -> String {
        guard all > 0 else { return "there was no \(piece) within the last minute" }
        return "a \(piece) takes \(rounded(secondsEach)) s" + (most.map { ", most of it in \($0.name)" } ?? "")
    }
}

/// For people: to the millisecond.
private func rounded(_ seconds: Double) -> Double { (seconds * 1000).rounded() / 1000 }

extension StepPhase {
    fileprivate var remedy: String {
        switch self {
        case .claim: "find out who holds a lock on the log or on projection.progress (pg_blocking_pids)"
        case .read: "give PostgreSQL more memory (shared_buffers) or a faster disk: it reads the log from there"
        case .lookUp: "look for a bloated table, and give PostgreSQL more memory: the indexes of deliveries do not fit"
        case .fold: "give the projecting process more processor time: another machine, or --lanes"
        case .write: "find out who holds a lock on the deliveries (pg_blocking_pids); else look at the disk"
        case .cells: "find out who holds a lock on a funnel's table (pg_blocking_pids); else look for a bloated one"
        case .commit: "look at the database's disk, and at the standby that commits wait for"
        }
    }
}

extension CommitPhase {
    fileprivate var remedy: String {
        switch self {
        case .wait, .words: "find out who holds a lock on log.word or on the log's history (pg_blocking_pids)"
        case .probe: "give PostgreSQL more memory: clients repeat old events, and these are read from the disk"
        case .copy: "find out who holds a lock on the log (pg_blocking_pids); else look at the database's disk"
        case .number: "find out who holds the row of log.head (pg_blocking_pids): commits take their number one by one"
        case .commit: "look at the database's disk, and at the standby that commits wait for"
        }
    }
}
