import Foundation
import Postgres
import ServiceRuntime
import TestSupport

/// Watches what services and tables take, a reading every so many seconds.
final class Gauge: Sendable {
    /// What a process had at a moment.
    struct Reading: Sendable {
        let kibibytes: Int
        let files: Int
        let threads: Int
    }

    /// A table at a moment: its size with indexes, and how many rows of it live, and how many wait to be vacuumed.
    struct Table: Sendable {
        let bytes: Int64
        let rows: Int64
        let dead: Int64
        var bytesPerRow: Double { Double(bytes) / Double(max(1, rows)) }
    }

    /// What is on the disk at a moment: the write-ahead log, and all else; and how many events were acknowledged by
    /// then.
    struct Disk: Sendable {
        let log: Int64
        let rest: Int64
        let events: Int

        init(ofServerAt directory: String, after events: Int) {
            let log = Disk.bytes(in: directory + "/pg_wal")
            (self.log, rest, self.events) = (log, Disk.bytes(in: directory) - log, events)
        }

        /// Files come and go meanwhile.
        private static func bytes(in directory: String) -> Int64 {
            let files = FileManager.default.enumerator(atPath: directory)
            var bytes: Int64 = 0
            while files?.nextObject() != nil { bytes += (files?.fileAttributes?[.size] as? Int64) ?? 0 }
            return bytes
        }
    }

    private struct State {
        var lives: [pid_t: [Reading]] = [:]
        var connections: [Int64] = []
        var disk: [Disk] = []
        var isStopping = false
    }

    private let state = Lock(State())
    private let household: Household
    private let load: Load
    private let worker = Lock<Worker?>(nil)

    init(of household: Household, beside load: Load, every seconds: Double) {
        (self.household, self.load) = (household, load)
        worker.withLock { $0 = Worker(name: "gauge") { self.run(every: seconds) } }
    }

    func stop() {
        state.withLockNotifying { $0.isStopping = true }
        worker.withLock { $0 }?.join()
    }

    /// All readings of a process.
    func life(of process: pid_t) -> [Reading] { state.withLock { $0.lives[process] ?? [] } }

    /// How many connections PostgreSQL had, all in all, whenever it could be asked.
    var connections: [Int64] { state.withLock { $0.connections } }

    /// What was on the disk near the end of each quarter: the least of its second half, since a rebuild or a
    /// verification holds more for a while.
    var disk: [Disk] {
        let all = state.withLock { $0.disk }
        return (0..<4).compactMap { quarter in
            all[(all.count * (2 * quarter + 1) / 8)..<(all.count * (quarter + 1) / 4)].min { $0.rest < $1.rest }
        }
    }

    /// What a process has now.
    static func reading(of process: pid_t) -> Reading? {
        guard let kibibytes = ProcessTable.memory(of: process), let files = ProcessTable.openFiles(of: process),
            let threads = ProcessTable.threads(of: process)
        else { return nil }
        return Reading(kibibytes: kibibytes, files: files, threads: threads)
    }

    /// How many connections the two services have.
    static func serviceConnections(_ connection: inout Connection) throws -> Int64 {
        try connection.query(
            """
            SELECT count(*) FROM pg_stat_activity WHERE application_name IN
                ('bellwether writer', 'bellwether keeper', 'bellwether keys', 'bellwether request worker',
                    'bellwether projections')
            """)[0].get(0)
    }

    /// The tables that change most: those of the live generation by their names without its number, and what each step
    /// and each commit writes to. Counted in the tables themselves: what PostgreSQL remembers of them does not outlive
    /// a crash.
    static func tables(url: String) throws -> [String: Table] {
        var connection = try Connection(url: url)
        connection.deadline = .after(seconds: 60)
        try connection.query("CREATE EXTENSION IF NOT EXISTS pgstattuple")
        var tables: [String: Table] = [:]
        let names = try connection.query(
            """
            SELECT 'projection.' || regexp_replace(c.relname, '_[0-9]+$', ''), c.oid::regclass::text
            FROM pg_class AS c WHERE c.relnamespace = 'projection'::regnamespace AND c.relkind = 'r'
                AND c.relispartition
                AND c.relname LIKE '%\\_' || (SELECT id FROM projection.generation WHERE state = 'live')
            UNION ALL SELECT name, name FROM unnest('{log.head,log.batch,projection.progress}'::text[]) AS name
            """)
        for row in names {
            let (name, table): (String, String) = (try row.get(0), try row.get(1))
            let measured = try connection.query(
                """
                SELECT pg_total_relation_size(\(table)::regclass), tuple_count, dead_tuple_count
                FROM pgstattuple(\(table)::regclass)
                """)[0]
            tables[name] = Table(
                bytes: try measured.get(0), rows: try measured.get(1), dead: try measured.get(2))
        }
        return tables
    }

    private func run(every seconds: Double) {
        repeat {
            for number in 0..<2 {
                let process = household[number].process.id
                if let reading = Self.reading(of: process) {
                    state.withLock { $0.lives[process, default: []].append(reading) }
                }
            }
            if let data = household.bellwether.data {
                let disk = Disk(ofServerAt: data + "/pg/data", after: load.events)
                state.withLock { $0.disk.append(disk) }
            }
            if let count = try? countConnections() { state.withLock { $0.connections.append(count) } }
        } while state.wait(until: .after(seconds: seconds)) { $0.isStopping ? true : nil } == nil
    }

    private func countConnections() throws -> Int64? {
        guard let url = household.bellwether.url else { return nil }
        var connection = try Connection(url: url)
        connection.deadline = .after(seconds: 5)
        return try connection.query("SELECT count(*) FROM pg_stat_activity WHERE datname IS NOT NULL")[0].get(0)
    }
}
