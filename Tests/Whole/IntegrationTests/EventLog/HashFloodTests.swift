import EventLog
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@testable import Projections

/// PostgreSQL's own hashes have no secret: whoever chooses texts and ids can make any number of them that have one
/// hash. What all apps share must not notice.
@Suite("Names that PostgreSQL gives one hash")
struct HashFloodTests {
    /// What it costs to fold and to prove a log.
    private struct Cost {
        /// Entries of the indexes by key that steps looked at.
        var looked: Int64 = 0
        var rebuild = 0.0
        var proof = 0.0
    }

    @Test("keys of notifications cost what others do: in steps, in a rebuild and in its proof")
    func notifications() throws {
        let count = 9_000
        let install = UUID.random()
        func cost(_ keys: [String]) throws -> Cost {
            try self.cost(keys.prefix(count).map { Event.sample(install: install, notification: $0) })
        }
        let usual = try cost((0..<count).map { "a notification of \(10_000_000 + $0) with as long a name." })
        let keys = CollidingTexts.make(count)
        #expect(try hashes("hashtext(name)", of: .init(keys)) == 1 && Set(keys).count == keys.count)
        let flood = try cost(keys)
        try expect(flood, like: usual)
    }

    @Test("ids of installs cost what others do")
    func installs() throws {
        let count = 9_000
        func cost(_ ids: some Sequence<UUID>) throws -> Cost {
            let ofOneShard = ids.lazy.filter { Shard.of($0, among: TestDatabase.shards) == 0 }
            return try self.cost(ofOneShard.prefix(count).map { Event.sample(install: $0) })
        }
        let usual = try cost((0..<8 * UInt64(count)).lazy.map { UUID(high: $0 &* 0x9e37_79b9_7f4a_7c15, low: $0) })
        let twins = HashTwins()
        let ids = (0..<8 * UInt32(count)).map { twins.id($0, hash: 7) }
        #expect(try hashes("uuid_hash(name)", of: .init(ids)) == 1 && Set(ids).count == ids.count)
        let flood = try cost(ids)
        try expect(flood, like: usual)
    }

    /// How many hashes PostgreSQL sees among names.
    private func hashes(_ hash: String, of names: Statement.Parameter) throws -> Int64 {
        let database = try TestDatabase.make()
        defer { database.drop() }
        return try database.value(
            Statement("SELECT count(DISTINCT \(hash)) FROM unnest($1) AS name" as String, [names]))
    }

    /// Each delivery is there in one batch, and opened in another.
    private func cost(_ events: [Event]) throws -> Cost {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let appender = try database.appender()
        var cost = Cost()
        for interaction in [Interaction.expanded, .opened(launch: .cold)] {
            var rest = events[...]
            while !rest.isEmpty {
                let batch = rest.prefix(2_000).map { event in
                    var event = event
                    event.id = .random()
                    event.interaction = interaction
                    return event
                }
                rest = rest.dropFirst(2_000)
                _ = try appender.append([app.submission(batch)])
            }
            #expect(try database.projections().catchUp().stopped.isEmpty)
        }
        #expect(
            try eventually {
                cost.looked = try database.value(
                    """
                    SELECT coalesce(sum(idx_tup_read), 0)::bigint FROM pg_stat_user_indexes
                    WHERE relname IN ('delivery_1', 'install_day_1') AND indexrelname LIKE '%key%'
                    """)
                return cost.looked >= Int64(events.count)
            })
        var session = try ProjectionSession.open(
            url: try database.url(), role: nil, purpose: "tests", log: .silent)
        let generation = try GenerationBuilder.begin(Projectors.all, on: &session)
        cost.rebuild = try Self.processorTime(of: &session) { session in
            let step = Step(choice: .building(generation), last: .max, mostShards: 16, mostEvents: 50_000)
            while try step.take(.plain, on: &session) != nil {}
        }
        var proving = try database.session(nil)
        cost.proof = try Self.processorTime(of: &proving) { session in
            for generation in [Verifier.Generation.live, .number(generation)] {
                let report = try Verifier().verify(generation, on: &session)
                #expect(report.isProved && report.deliveries == Int64(events.count))
            }
        }
        return cost
    }

    /// The processor time of a session's process in PostgreSQL.
    static func processorTime(
        of connection: inout Connection, _ body: (inout Connection) throws -> Void
    ) throws -> Double {
        let process: Int32 = try connection.query("SELECT pg_backend_pid()")[0].get(0)
        let before = try #require(ProcessTable.processorTime(of: process))
        try body(&connection)
        return try #require(ProcessTable.processorTime(of: process)) - before
    }

    private func expect(_ flood: Cost, like usual: Cost) throws {
        #expect(flood.looked <= usual.looked + usual.looked / 10, "\(flood) \(usual)")
        #expect(flood.rebuild <= 2 * usual.rebuild + 0.2, "\(flood) \(usual)")
        #expect(flood.proof <= 2 * usual.proof + 0.2, "\(flood) \(usual)")
    }
}

extension Event {
    /// An event of the notification with this id.
    fileprivate static func sample(install: UUID, notification: String) -> Event {
        var event = Event.sample(install: install)
        event.notification.id = notification
        return event
    }
}
