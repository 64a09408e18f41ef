import EventLog
import FunnelOracle
import Postgres
import Projections
import Telemetry
import TestSupport
import Testing
import Values

@Suite("The number by which a delivery is found")
struct DeliveryKeyTests {
    @Test("begins with what PostgreSQL's own function gives, byte for byte")
    func hashes() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var connection = try database.connect()
        var random = SeededNumbers(seed: 1)
        let letters = ["a", "7", "é", "e\u{301}", "👋", " "]
        for length in 0..<60 {
            let text = (0..<length).map { _ in letters.randomElement(using: &random)! }.joined()
            let hash: Int64 = try connection.query("SELECT hashtextextended(\(text) COLLATE \"C\", 0)")[0].get(0)
            #expect(hash == Int64(bitPattern: DeliveryKey.hash(text)))
        }
    }

    @Test("keeps messages of one time together, whatever the install")
    func order() {
        func key(_ message: String, install: UInt64 = 1) -> Int64 {
            let name = Projections.Delivery.Name(
                app: 1, shard: 0, install: UUID(high: 0, low: install), notificationKey: message)
            return DeliveryKey.of(name, secret: UUID(high: 0, low: 5))
        }
        let (message, next, later) = (key("1732181410001234"), key("1732181411"), key("1732191410001234"))
        #expect(message >> 40 == next >> 40)
        #expect(message < later)
        for message in ["1732181410001234", "req-1"] {
            let (one, other) = (key(message, install: 1), key(message, install: 2))
            #expect(one > 0 && one != other)
            #expect(one >> 24 == other >> 24)
        }
    }

    @Test("that two deliveries share leaves them two, through steps, rebuild, zone change, erasure and retention")
    func collisions() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let shops = try ProjectedShops(none: database)
        let app = try database.makeApp("shop", timeZone: "Europe/Berlin")
        var connection = try database.connect()
        for month in [TestDatabase.month(2025, 12), TestDatabase.month(2026, 2)] {
            try connection.query("SELECT log.make_partition(\(month))")
        }
        let secret: UUID = try connection.query("SELECT secret FROM projection.generation")[0].get(0)
        // The generations that rebuilds make have the same, so that the same deliveries meet there.
        try connection.execute(script: "ALTER TABLE projection.generation ALTER COLUMN secret SET DEFAULT '\(secret)'")
        let pairs = Self.pairs(of: app, secret: secret).prefix(20)
        try #require(pairs.count == 20)

        // One of each pair is of December and only received; the other is of February and opened. An event a batch, in
        // turns.
        let (old, new) = (TestDatabase.noon(2025, 12, 20), TestDatabase.noon(2026, 2, 20))
        func event(_ install: UUID, _ time: Timestamp, _ interaction: Interaction) -> Event {
            .sample(at: time, install: install, interaction: interaction)
        }
        let receipt = Interaction.received(Receipt(via: .serviceExtension))
        for (first, second) in pairs {
            try shops.append(app.submission([event(first, old, receipt), event(second, new, receipt)]))
        }
        for (_, second) in pairs {
            try shops.append(app.submission([event(second, new + 1_000_000, .opened(launch: .cold))]))
        }
        for (first, _) in pairs { try shops.append(app.submission([event(first, old + 1_000_000, .expanded)])) }
        var control = shops.control
        control.mostEvents = 3
        #expect(try control.catchUp().stopped.isEmpty)
        func expect(_ received: Int, _ opened: Int, sourceLocation: SourceLocation = #_sourceLocation) throws {
            try shops.expectProved(sourceLocation: sourceLocation)
            let sums = try database.analystRows("SELECT sum(received), sum(opened), sum(expanded) FROM category_funnel")
            let expected = ["(\(received),\(opened),20)"]
            #expect(sums == expected, sourceLocation: sourceLocation)
        }
        try expect(40, 20)
        let keys: Int64 = try database.value("SELECT count(DISTINCT key) FROM projection.delivery")
        #expect(keys == 20)

        try shops.rebuild()
        #expect(try database.value("SELECT count(DISTINCT key) FROM projection.delivery", as: Int64.self) == 20)
        try expect(40, 20)

        try database.setZone(of: "shop", to: "Pacific/Auckland")
        _ = try database.makeZoneChanges()
        #expect(
            try database.analystRows("SELECT DISTINCT day FROM deliveries ORDER BY 1") == [
                "(2025-12-21)", "(2026-02-21)",
            ])
        try expect(40, 20)

        let erased = try shops.erase(pairs[0].1, of: app)
        #expect(erased.own.deliveries == 1)
        try expect(39, 19)

        _ = try shops.retain()
        #expect(try database.value("SELECT count(*) FROM projection.delivery", as: Int64.self) == 19)
        try expect(39, 19)
    }

    /// Installs whose deliveries of the sample notification have one number; none is in two pairs.
    private static func pairs(of app: TestApp, secret: UUID) -> [(UUID, UUID)] {
        var known: [Int64: UUID] = [:]
        var met: Set<Int64> = []
        var pairs: [(UUID, UUID)] = []
        for number in 0..<60_000 as Range<UInt64> {
            let install = UUID(high: number, low: 7)
            let name = Projections.Delivery.Name(
                app: app.id, shard: Shard.of(install, among: TestDatabase.shards), install: install,
                notificationKey: "req-1")
            let key = DeliveryKey.of(name, secret: secret)
            if let other = known.updateValue(install, forKey: key), met.insert(key).inserted {
                pairs.append((other, install))
            }
        }
        return pairs
    }
}
