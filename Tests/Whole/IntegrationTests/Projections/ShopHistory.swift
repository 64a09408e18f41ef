import FunnelOracle
import Postgres
import TestSupport
import Testing

/// A random history, with its apps made in a database.
struct ShopHistory {
    let history: RandomHistory
    let apps: [String: TestApp]

    var seed: UInt64 { history.seed }
    var events: [StoredEvent] { history.events }

    /// One for each seed, with apps of its own.
    static func histories(seeds: some Sequence<UInt64>, in database: TestDatabase) throws -> [ShopHistory] {
        try seeds.map { seed in
            let history = RandomHistory(seed: seed, appPrefix: "s\(seed)-")
            var apps: [String: TestApp] = [:]
            for (slug, zone) in history.timeZoneNames { apps[slug] = try database.makeApp(slug, timeZone: zone) }
            return ShopHistory(history: history, apps: apps)
        }
    }

    /// The views show what the oracle makes of this history.
    func expectOracle(in views: FunnelRows, location: SourceLocation = #_sourceLocation) throws {
        let lines = try views.differences(from: history.funnels.tables, of: self)
        #expect(
            lines.isEmpty, "seed \(seed), \(lines.count) differences: \(lines.prefix(5).joined(separator: "; "))",
            sourceLocation: location)
    }
}

/// The rows of the views of a database, each view read once for all shops that are compared with it.
final class FunnelRows {
    private let database: TestDatabase
    /// By query, then by app.
    private var read: [String: [String: [[String?]]]] = [:]

    init(of database: TestDatabase) { self.database = database }

    /// Where the views show something else of a shop's apps than these tables.
    func differences(from tables: [FunnelTable], of shop: ShopHistory) throws -> [String] {
        try tables.flatMap { table in
            let rows = try rows(of: table)
            return table.differences(in: shop.apps.keys.flatMap { rows[$0] ?? [] })
        }
    }

    private func rows(of table: FunnelTable) throws -> [String: [[String?]]] {
        if let known = read[table.query] { return known }
        var connection = try database.connect()
        let rows = try connection.query(Statement(table.query)).map { row in
            try table.columns.indices.map { column in try row.optional(column, as: String.self) }
        }
        let app = table.columns.firstIndex(of: "app")!
        let grouped = Dictionary(grouping: rows) { ($0[app] ?? "") }
        read[table.query] = grouped
        return grouped
    }
}
