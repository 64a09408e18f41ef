import Accounts
import Clusters
import Envelopes
import EventLog
import Postgres
import ServiceRuntime
import Simulation
import Telemetry
import TestSupport
import Testing
import Values

/// What two simulated apps have sent in a fortnight, up to yesterday: in three cells with a hub, and in one database.
/// Those who only read share it.
struct SimulatedHub: Sendable {
    let cells: ThreeCells
    let hub: TestDatabase
    let whole: TestDatabase
    let now: Timestamp
    let today: CivilDate
    let apps = [AppProfile.news, .shop]

    private static let shared = Result { try SimulatedHub() }

    static func get() throws -> SimulatedHub { try shared.get() }

    private static let day: Int64 = 86_400_000_000

    private init() throws {
        cells = try ThreeCells()
        hub = try cells.makeHub()
        whole = try TestDatabase.make(.withUsualShards)
        now = WallClock.now
        today = CivilDate(daysSince1970: Int(now.microseconds / Self.day))
        // The cells have an app more.
        _ = try whole.makeApp(cells.app.slug)
        for (place, profile) in apps.enumerated() { try fill(profile, seed: UInt64(place)) }
        for database in cells.databases + [whole] { _ = try Bellwether(database).trusted("project", "--once") }
    }

    private func fill(_ profile: AppProfile, seed: UInt64) throws {
        let here = try whole.makeApp(profile.slug, timeZone: profile.home.name)
        let there = try cells.databases[0].makeApp(profile.slug, timeZone: profile.home.name)
        #expect(try cells.cluster().shareWithAll(SharedTables.accounts).isEmpty)
        var world = World(
            profile, seed: seed, installs: 150, from: now + -15 * Self.day, lastDay: now + -Self.day)
        let decoder = EnvelopeDecoder()
        let decoded = world.advance(to: now).compactMap { envelope in
            try? decoder.decode(body: envelope.body(sentAt: envelope.time), receivedAt: envelope.time + 400_000)
        }
        let single = try whole.appender()
        let appenders = try cells.databases.map { try $0.appender() }
        for start in stride(from: 0, to: decoded.count, by: 200) {
            let part = decoded[start..<min(start + 200, decoded.count)]
            _ = try single.append(part.map { Submission(app: here.id, key: here.key.id, envelope: $0) })
            for (place, appender) in appenders.enumerated() {
                let own = part.filter {
                    cells.map.holder(of: $0.installID ?? UUID(high: 0, low: 0)) == Int16(place + 1)
                }
                _ = try appender.append(own.map { Submission(app: there.id, key: there.key.id, envelope: $0) })
            }
        }
        let sends = "{\"sends\":[\(world.takeSends().map(\.text).joined(separator: ","))]}"
        for database in [whole, cells.databases[1]] {
            let bellwether = try Bellwether(database)
            _ = try bellwether.trusted(
                "categories", "import", "--app", profile.slug, "-", input: profile.categoryDocument)
            _ = try bellwether.trusted("sends", "import", "--app", profile.slug, "-", input: sends)
        }
    }

    /// The rows of a query as an analyst reads them, without the numbers of batches, which each cell gives by itself.
    func rows(_ query: String, in database: TestDatabase) throws -> [String] {
        try database.analystRows(
            "SELECT to_jsonb(asked) - ARRAY['position', 'lag_seconds', 'batch', 'received_at'] FROM (\(query)) AS asked"
        )
    }
}
