import Accounts
import FunnelOracle
import Postgres
import Projections
import ServiceRuntime
import TestSupport
import Testing

@Suite("An app's time zone is changed")
struct ZoneChangeTests {
    private static let zones = [
        "Asia/Kolkata", "Australia/Lord_Howe", "America/St_Johns", "Pacific/Kiritimati", "Pacific/Pago_Pago",
        "Europe/Berlin", "Asia/Kathmandu", "America/Santiago",
    ]

    /// One app of each shop, and the zone that it is to have.
    private struct Move {
        let shop: ShopHistory
        let slug: String
        let zone: String

        init(_ shop: ShopHistory, by offset: Int = 0) {
            self.shop = shop
            let slug = shop.apps.keys.min()!
            let other = ZoneChangeTests.zones.filter { $0 != shop.history.timeZoneNames[slug] }
            self.slug = slug
            zone = other[(Int(shop.seed) + offset) % other.count]
        }

        /// The zones of all apps of the shop, when the move is made.
        var zones: [String: String] { shop.history.timeZoneNames.merging([slug: zone]) { $1 } }
    }

    private func makeProjected(seeds: some Sequence<UInt64>) throws -> (ProjectedShops, [Move]) {
        let shops = try ProjectedShops(seeds: seeds)
        try shops.append(shops.events)
        try shops.project()
        return (shops, shops.shops.map { Move($0) })
    }

    private func expectMade(
        _ moves: [Move], in shops: ProjectedShops, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let views = FunnelRows(of: shops.database)
        for move in moves {
            try move.shop.expectOracle(
                of: move.shop.events, zones: move.zones, in: views, sourceLocation: sourceLocation)
        }
    }

    @Test("its deliveries move to their days, whole and with every law kept, and nobody else's do")
    func moves() throws {
        let (shops, moves) = try makeProjected(seeds: 1...14)
        defer { shops.database.drop() }
        let onlooker = Onlooker(shops.database) { try FunnelReading(within: &$0).broken }
        var moved = 0
        for move in moves {
            try shops.database.setZone(of: move.slug, to: move.zone)
            let made = try shops.database.makeZoneChanges()
            #expect(made.map(\.slug) == [move.slug])
            moved += made.reduce(0) { $0 + $1.moved }
        }
        onlooker.expectContent()
        #expect(moved > 3)
        try expectMade(moves, in: shops)
        try shops.expectLasting()
        try expectMade(moves, in: shops)
        #expect(try shops.database.makeZoneChanges().isEmpty)
    }

    @Test("a change that was cut short is taken up by a runner, beside writers")
    func cutShort() throws {
        let shops = try ProjectedShops(seeds: 1...8)
        defer { shops.database.drop() }
        let moves = shops.shops.map { Move($0) }
        try shops.append(shops.events.prefix(shops.events.count / 2))
        try shops.project()
        for move in moves { try shops.database.setZone(of: move.slug, to: move.zone) }
        let onlooker = Onlooker(shops.database) { try FunnelReading(within: &$0).broken }
        try shops.besideRunner {
            try shops.append(shops.events.dropFirst(shops.events.count / 2))
            let isMade = try eventually { try shops.database.pendingZones().isEmpty }
            #expect(isMade)
        }
        onlooker.expectContent()
        try expectMade(moves, in: shops)
        try shops.expectLasting()
    }

    @Test("verifying tells of a change until it is made, and a rebuild beside it makes what it should")
    func pending() throws {
        let (shops, moves) = try makeProjected(seeds: 1...8)
        defer { shops.database.drop() }
        for move in moves.prefix(4) { try shops.database.setZone(of: move.slug, to: move.zone) }
        let report = try shops.verify()
        #expect(!report.isProved && Set(report.moves.map(\.app)) == Set(moves.prefix(4).map(\.slug)))
        #expect(report.gapCount == 0 && report.omissions.isEmpty)
        #expect(report.description.contains("is being moved to zone"))
        // Of all funnels, one by one, and then of everything.
        try shops.rebuild(["category_funnel", "story_page_funnel"])
        _ = try shops.database.makeZoneChanges()
        try expectMade(Array(moves.prefix(4)), in: shops)
        try shops.expectProved()
        for move in moves.dropFirst(4) { try shops.database.setZone(of: move.slug, to: move.zone) }
        try shops.rebuild()
        _ = try shops.database.makeZoneChanges()
        try expectMade(moves, in: shops)
        try shops.expectLasting()
    }

    @Test("a change while a rebuild is half way is in what the rebuild makes", arguments: [[], ["category_funnel"]])
    func whileRebuilding(_ names: [String]) throws {
        let (shops, moves) = try makeProjected(seeds: 1...8)
        defer { shops.database.drop() }
        let hasMoved = Lock(false)
        let outcome = try Rebuild(shops.control, names: names).run { phase in
            guard case .verifying(shard: 2, of: _) = phase, !hasMoved.withLock({ $0 }) else { return }
            hasMoved.withLock { $0 = true }
            do {
                for move in moves { try shops.database.setZone(of: move.slug, to: move.zone) }
                // Half of them are moved at once, the others not yet.
                for move in moves.prefix(4) { _ = try shops.database.makeZoneChanges(of: [move.slug]) }
            } catch { Issue.record(error) }
        }
        guard case .swapped = outcome else {
            Issue.record("\(outcome)")
            return
        }
        _ = try shops.database.makeZoneChanges()
        try expectMade(moves, in: shops)
        try shops.expectLasting()
    }

    @Test("changed twice before the first change was made, and back, it ends where it should")
    func thereAndBack() throws {
        let shops = try ProjectedShops(seeds: 1...8)
        defer { shops.database.drop() }
        let moves = shops.shops.map { Move($0) }
        let half = shops.events.count / 2
        try shops.append(shops.events.prefix(half))
        try shops.project()
        for move in moves { try shops.database.setZone(of: move.slug, to: move.zone) }
        // Some are moved in part, and what comes meanwhile stands on the new days.
        try shops.database.fail("UPDATE", on: "projection.delivery_1", when: "NEW.notification_key > '175'")
        for change in try shops.database.pendingZones().prefix(5) {
            _ = try? shops.database.makeZoneChanges(of: [change.slug])
        }
        try shops.database.mend()
        try shops.append(shops.events.dropFirst(half).prefix(half / 2))
        try shops.project()
        for move in moves {
            try shops.database.setZone(of: move.slug, to: move.shop.history.timeZoneNames[move.slug]!)
        }
        #expect(try shops.verify().moves.count == moves.count)
        _ = try shops.database.makeZoneChanges()
        try shops.append(shops.events.dropFirst(half + half / 2))
        try shops.project()
        let views = FunnelRows(of: shops.database)
        for move in moves { try move.shop.expectOracle(of: move.shop.events, in: views) }
        try shops.expectLasting()
    }

    @Test("changed to a third zone while the first change is made, it ends in the third")
    func overtaken() throws {
        let (shops, moves) = try makeProjected(seeds: 1...8)
        defer { shops.database.drop() }
        let final = shops.shops.map { Move($0, by: 3) }
        for move in moves { try shops.database.setZone(of: move.slug, to: move.zone) }
        let changes = try shops.database.pendingZones()
        for move in final { try shops.database.setZone(of: move.slug, to: move.zone) }
        // Whoever had begun the first goes on with it.
        var connection = try ProjectionSession.open(
            url: try shops.database.url(), role: .projector, purpose: "tests", log: .silent)
        for change in changes { _ = try change.make(on: &connection) }
        _ = try shops.database.makeZoneChanges()
        try expectMade(final, in: shops)
        #expect(try shops.database.pendingZones().isEmpty)
        try shops.expectLasting()
    }

    @Test("days that stand by other rules of a zone are moved when a runner starts")
    func rules() throws {
        let (shops, moves) = try makeProjected(seeds: 1...8)
        defer { shops.database.drop() }
        try shops.besideRunner {
            // It has written down by which rules the days stand.
            let isSo = try eventually {
                try shops.database.value("SELECT count(*) FROM projection.zone", as: Int64.self)
                    == shops.shops.reduce(0) { $0 + Int64($1.apps.count) }
            }
            #expect(isSo)
        }
        // As if the rules of one zone had been those of another: its days stand there.
        for move in moves { try shops.database.setZone(of: move.slug, to: move.zone) }
        _ = try shops.database.makeZoneChanges()
        for move in moves {
            try shops.database.run(
                """
                UPDATE log.app SET time_zone = '\(move.shop.history.timeZoneNames[move.slug]!)'
                    WHERE slug = '\(move.slug)';
                UPDATE projection.zone SET rules = 'of an older release',
                    time_zone = '\(move.shop.history.timeZoneNames[move.slug]!)'
                WHERE app = \(move.shop.apps[move.slug]!.id)
                """)
        }
        #expect(try shops.database.pendingZones().isEmpty)
        try shops.besideRunner {
            let isSo = try eventually {
                try shops.database.value(
                    "SELECT count(*) FROM projection.zone WHERE rules = 'of an older release'", as: Int64.self) == 0
            }
            #expect(isSo)
        }
        let views = FunnelRows(of: shops.database)
        for move in moves { try move.shop.expectOracle(of: move.shop.events, in: views) }
        try shops.expectProved()
    }

    @Test("what retention has sealed stays on its days")
    func sealed() throws {
        let (shops, moves) = try makeProjected(seeds: ProjectedShops.acrossNewYear.prefix(4))
        defer { shops.database.drop() }
        #expect(try shops.retain().allSatisfy(\.isDropped))
        let frozen = try shops.database.frozen()
        for move in moves { try shops.database.setZone(of: move.slug, to: move.zone) }
        _ = try shops.database.makeZoneChanges()
        #expect(try shops.database.frozen() == frozen)
        try shops.expectLasting()
    }
}

extension TestDatabase {
    /// As `app set` does, up to the moving.
    func setZone(of slug: String, to zone: String) throws {
        var connection = try session(nil)
        try connection.execute(script: "BEGIN")
        try ZoneChange.remember(slug, on: &connection)
        // Not by `Apps.set`, which has PostgreSQL read all its time zones to check this one.
        try connection.query("UPDATE log.app SET time_zone = \(zone) WHERE slug = \(slug)")
        try connection.execute(script: "COMMIT")
    }

    func pendingZones() throws -> [ZoneChange] {
        var connection = try session(nil)
        return try ZoneChange.pending(.recorded, on: &connection)
    }

    /// Makes what is pending, of these apps or of all, a few deliveries at a time.
    func makeZoneChanges(of slugs: Set<String>? = nil) throws -> [(slug: String, moved: Int)] {
        var connection = try ProjectionSession.open(url: try url(), role: nil, purpose: "tests", log: .silent)
        var made: [(String, Int)] = []
        for var change in try ZoneChange.pending(.recorded, on: &connection)
        where slugs?.contains(change.slug) ?? true {
            change.mostDeliveries = 3
            made.append((change.slug, try change.make(on: &connection)))
        }
        return made
    }
}
