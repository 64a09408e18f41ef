import EventLog
import FunnelOracle
import Postgres
import Projections
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

/// Random histories on their way into the log of a database, from as many threads as a test has.
struct Traffic: Sendable {
    let database: TestDatabase
    let shops: [ShopHistory]
    private let waiting: Lock<ArraySlice<Waiting>>

    private struct Waiting: Sendable {
        let app: TestApp
        let event: Event
    }

    init(seeds: ClosedRange<UInt64>, in database: TestDatabase) throws {
        self.database = database
        shops = try ShopHistory.histories(seeds: seeds, in: database)
        var random = SeededNumbers(seed: seeds.lowerBound)
        let events = shops.flatMap { shop in
            shop.events.compactMap { stored in
                shop.apps[stored.app].map { Waiting(app: $0, event: stored.event) }
            }
        }
        waiting = Lock(events.shuffled(using: &random)[...])
    }

    /// How many events have yet to come.
    var left: Int { waiting.withLock { $0.count } }

    /// Appends the next events as one batch; false when there were none.
    @discardableResult
    func append(_ count: Int, by appender: Appender) throws -> Bool {
        let part = waiting.withLock { waiting in
            defer { waiting.removeFirst(min(count, waiting.count)) }
            return waiting.prefix(count)
        }
        guard !part.isEmpty else { return false }
        let submissions = Dictionary(grouping: part, by: \.app.id).values.map { $0[0].app.submission($0.map(\.event)) }
        _ = try appender.append(submissions)
        return true
    }

    /// Appends all that is left, in batches of any size up to so many events.
    func appendRest(upTo most: Int = 40) throws {
        let appender = try database.appender()
        while try append(.random(in: 1...most), by: appender) {}
    }

    /// The views show what the oracle makes of all histories.
    func expectOracle(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let views = FunnelRows(of: database)
        for shop in shops { try shop.expectOracle(in: views, location: sourceLocation) }
    }
}

extension UUID {
    /// Any install of that shard.
    static func install(in shard: Int16) -> UUID {
        precondition(shard < TestDatabase.shards)
        while true {
            let install = UUID.random()
            if Shard.of(install, among: TestDatabase.shards) == shard { return install }
        }
    }
}

extension TestDatabase {
    /// Appends batches of one receipt each, on any installs; some by their number in a shard and a category of their
    /// own.
    func appendReceipts(
        _ batches: ClosedRange<Int>, of app: TestApp, in places: [Int: (shard: Int16, category: String)] = [:]
    ) throws {
        let appender = try appender()
        for batch in batches {
            let event = Event.sample(
                at: Event.sampleTime + Int64(batch), install: places[batch].map { .install(in: $0.shard) } ?? .random(),
                category: places[batch]?.category ?? "NEWS", interaction: .received(Receipt(via: .serviceExtension)))
            _ = try appender.append([app.submission([event])])
        }
    }

    /// Its projections, with steps so small that there are many.
    func projections(mostEvents: Int64 = 50, log: Log = .silent) throws -> ProjectionControl {
        var control = ProjectionControl(url: try url(), log: log)
        control.mostEvents = mostEvents
        return control
    }

    /// Every cell is what the log says, where each shard stands.
    func expectProved(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let report = try lending(nil) { connection in try Verifier().verify(on: &connection) }
        #expect(report.isProved, "\(report)", sourceLocation: sourceLocation)
    }

    /// Stands level with the log and is proved.
    func expectLevel(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let behind: [String] = try column(
            "SELECT name FROM analytics.projections WHERE status <> 'running' OR lag <> 0")
        #expect(behind == [], sourceLocation: sourceLocation)
        try expectProved(sourceLocation: sourceLocation)
    }

    /// The numbers of the tables that there are for a projector's table, sealed ones aside.
    func tables(of name: String = "category_funnel") throws -> [Int32] {
        try column(
            """
            SELECT substr(relname, length(\(name)) + 2)::integer AS number FROM pg_class
            WHERE relnamespace = 'projection'::regnamespace AND relkind = 'r'
                AND relname ~ ('^' || \(name) || '_[1-9][0-9]*$')
            ORDER BY number
            """)
    }

    /// The generations that there are: `1 live`.
    func generations() throws -> [String] {
        try column("SELECT id || ' ' || state FROM projection.generation ORDER BY id")
    }

    /// Ends connections to this database by name, as a crash of who holds them would; says how many.
    @discardableResult
    func kill(_ purpose: String) throws -> Int {
        var administrator = try administrator()
        let name = "bellwether \(purpose)"
        return try administrator.query(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND application_name = \(name)
            """
        ).count
    }
}
