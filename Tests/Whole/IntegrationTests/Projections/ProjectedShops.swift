import EventLog
import FunnelOracle
import Postgres
import Projections
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

import struct Foundation.TimeZone

/// A database with random histories, a partition for each of their months, and doors to its projections.
struct ProjectedShops: Sendable {
    let database: TestDatabase
    let shops: [ShopHistory]
    let control: ProjectionControl

    /// Around events that a test makes by hand.
    init(none database: TestDatabase) throws {
        self.database = database
        shops = []
        control = ProjectionControl(url: try database.url(), log: .silent)
    }

    /// Makes the apps and the months; nothing is appended yet.
    init(seeds: some Sequence<UInt64>) throws {
        database = try TestDatabase.make()
        shops = try ShopHistory.histories(seeds: seeds, in: database)
        var control = ProjectionControl(url: try database.url(), log: .silent)
        control.mostEvents = 400
        self.control = control
        let months = Set(events.map(\.event.deviceAt.month))
        var connection = try database.connect()
        for month in months { try connection.query("SELECT log.make_partition(\(month))") }
    }

    /// Seeds of histories with deliveries that began last year and went on in this one; none is long.
    static let acrossNewYear: [UInt64] = {
        var seeds: [UInt64] = []
        for seed in 1...200 as ClosedRange<UInt64> where seeds.count < 10 {
            let events = RandomHistory(seed: seed).events
            let deliveries = Dictionary(grouping: events) { $0.delivery }
            let hasStraddler = deliveries.values.contains { Set($0.map(\.isOld)).count == 2 }
            if hasStraddler, events.count < 200 { seeds.append(seed) }
        }
        return seeds
    }()

    var events: [StoredEvent] { shops.flatMap(\.events) }

    /// Appends events, a few dozen in a batch; says what became of each.
    @discardableResult
    func append(_ events: some Sequence<StoredEvent>) throws -> [Verdict] {
        let events = Array(events)
        let appender = try database.appender()
        var verdicts: [Verdict] = []
        for start in stride(from: 0, to: events.count, by: 40) {
            let part = events[start..<min(start + 40, events.count)]
            verdicts += try appender.append(part.map { app(of: $0).submission([$0.event]) }).map { $0[0] }
        }
        return verdicts
    }

    /// Appends what an app submits, as one batch.
    @discardableResult
    func append(_ submissions: Submission...) throws -> [[Verdict]] { try database.appender().append(submissions) }

    func app(of event: StoredEvent) -> TestApp { shops.lazy.compactMap { $0.apps[event.app] }.first! }

    /// Brings the funnels level, all of them.
    func project(sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try control.catchUp().stopped.isEmpty, sourceLocation: sourceLocation)
    }

    func retain(
        days: Int = 40, patience: Double = 10, now: Timestamp = TestDatabase.noon(2026, 3, 1)
    ) throws -> [RetentionRun.RemovedMonth] {
        var run = RetentionRun(control)
        run.mostDeliveries = 25
        run.patience = patience
        var outcomes: [RetentionRun.RemovedMonth] = []
        try run.run(days: days, now: now) { outcomes.append($0) }
        return outcomes
    }

    func erase(_ install: UUID, of app: TestApp) throws -> ErasureRun.Summary {
        try ErasureRun(control).run(app: app.id, install: install)
    }

    func funnels(of apps: [String]? = nil) throws -> FunnelViews {
        try database.lending(nil) { connection in try FunnelViews(of: apps, on: &connection) }
    }

    func verify() throws -> VerificationReport {
        try database.lending(nil) { connection in try Verifier().verify(on: &connection) }
    }

    /// The funnels show these rows, of these apps or of all.
    func expect(
        _ views: FunnelViews, of apps: [String]? = nil, _ comment: Comment? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let lines = views.differences(in: try funnels(of: apps))
        #expect(
            lines.isEmpty, "\(comment ?? "") \(lines.count) rows: \(lines.prefix(4).joined(separator: "; "))",
            sourceLocation: sourceLocation)
    }

    /// Verification proves them.
    func expectProved(_ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let report = try verify()
        #expect(report.isProved, "\(comment ?? "") \(report)", sourceLocation: sourceLocation)
    }

    /// A rebuild ends with new tables that are live.
    func rebuild(_ names: [String] = [], sourceLocation: SourceLocation = #_sourceLocation) throws {
        let outcome = try Rebuild(control, names: names).run { _ in }
        guard case .swapped = outcome else {
            Issue.record("the rebuild ended as \(outcome)", sourceLocation: sourceLocation)
            return
        }
    }

    /// Verification proves, and a rebuild of all proves and shows the same rows again.
    func expectLasting(sourceLocation: SourceLocation = #_sourceLocation) throws {
        try expectProved(sourceLocation: sourceLocation)
        let before = try funnels()
        try rebuild(sourceLocation: sourceLocation)
        try expect(before, "after the rebuild", sourceLocation: sourceLocation)
    }

    /// Runs `body` beside a service's runner, which has brought all level when this returns.
    func besideRunner<Result>(_ body: () throws -> Result) throws -> Result {
        let runner = Runner(
            Runner.Configuration(url: try database.url()), metrics: Metrics(), log: .silent, isWell: { true })
        runner.start()
        defer { runner.stop() }
        let result = try body()
        #expect(try database.becomesLevel())
        return result
    }
}

extension ShopHistory {
    /// Which of the oracle's tables are asked for.
    enum Part { case all, funnels, deliveries }

    /// The views show what the oracle makes of these events of this shop, in its zones or in others.
    func expectOracle(
        of events: [StoredEvent], _ part: Part = .all, zones: [String: String]? = nil, in views: FunnelRows,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let names = zones ?? history.timeZoneNames
        let own = events.filter { apps[$0.app] != nil }
        let tables = Oracle.funnels(of: own) { slug in TimeZone(identifier: names[slug]!)! }.tables
        let asked =
            switch part {
            case .all: tables
            case .funnels: tables.filter(\.isSum)
            case .deliveries: Array(tables.prefix(1))
            }
        let lines = try views.differences(from: asked, of: self)
        #expect(
            lines.isEmpty, "seed \(seed), \(lines.count) differences: \(lines.prefix(4).joined(separator: "; "))",
            sourceLocation: sourceLocation)
    }
}

extension StoredEvent {
    /// Names the delivery that it is an event of.
    var delivery: [String] { [app, "\(event.source.installID)", event.notificationKey ?? ""] }

    /// Whether it is of the months that `ProjectedShops.retain` takes: all before this year.
    var isOld: Bool {
        event.deviceAt.month.daysSince1970 < TestDatabase.month(2026, 1).daysSince1970
    }
}

extension Timestamp {
    /// The first day of the month in which it lies, in UTC.
    var month: CivilDate {
        let day = CivilDate(daysSince1970: Int((Double(microseconds) / 86_400_000_000).rounded(.down)))
        return CivilDate(year: day.year, month: day.month, day: 1)!
    }
}
