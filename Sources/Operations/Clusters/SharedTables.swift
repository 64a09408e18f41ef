internal import Accounts
package import EventLog
package import Postgres
internal import Projections
internal import Registry
internal import Sends
internal import ServiceRuntime

/// The tables that all cells of a cluster have with the same rows, those that others refer to first.
package enum SharedTables {
    package static let accounts = Apps.sharedTables
    package static let registry = Registrar.sharedTables
    package static let sends = SendStore.sharedTables
    package static let experiments = ExperimentRegistry.sharedTables
    package static let all = accounts + registry + experiments + sends
    /// Rows of Firebase's export, which a new cell gets; later ones are imported into each cell by itself.
    static let export = FCMExportStore.sharedTables
}

extension Cluster {
    /// Brings the rows of these tables from the first cell to another one. Returns how many rows of each that one did
    /// not have, or had otherwise.
    package func share(
        _ tables: [SharedTable], with cell: ClusterMap.Cell
    ) throws -> [(table: SharedTable, rows: Int)] {
        let first = try self.first
        var shared: [(table: SharedTable, rows: Int)] = []
        try working(on: first) { source in
            try working(on: cell) { target in
                for table in tables {
                    // Another time zone means other days, which the projections of that cell must know before.
                    if table.name == "log.app" { try Self.rememberZones(from: &source, to: &target) }
                    shared.append((table, try table.copyAll(from: &source, to: &target)))
                }
                if shared.contains(where: { $0.table.name == "log.app" && $0.rows > 0 }) {
                    try target.query("ANALYZE log.app")
                }
            }
        }
        return shared
    }

    /// Gives these tables to all other cells. Returns the cells that do not have them now.
    package func shareWithAll(_ tables: [SharedTable]) -> [(cell: ClusterMap.Cell, error: any Error)] {
        var failures: [(cell: ClusterMap.Cell, error: any Error)] = []
        var asked: Set<Int16> = []
        while let cell = others.first(where: { !asked.contains($0.number) }) {
            asked.insert(cell.number)
            do { _ = try share(tables, with: cell) } catch { failures.append((cell, error)) }
            CrashPoint.pass("shared with another cell")
            guard others.allSatisfy({ asked.contains($0.number) }), let first = try? self.first else { continue }
            // A cell may have been added meanwhile.
            let newest = try? on(first) { connection throws(PostgresError) in try ClusterMap.read(on: &connection) }
            if let newest, newest.epoch > map.epoch { follow(newest) }
        }
        return failures
    }

    /// Records in which zones the days of a cell are, before its apps get another zone.
    private static func rememberZones(
        from source: inout Connection, to target: inout Connection
    ) throws(PostgresError) {
        var zones: [String: String] = [:]
        for app in try Apps.list(on: &source) { zones[app.slug] = app.timeZone }
        for app in try Apps.list(on: &target) {
            guard let zone = zones[app.slug], zone != app.timeZone else { continue }
            try target.transaction { target throws(PostgresError) in
                try ZoneChange.remember(app.slug, on: &target)
                try target.query("UPDATE log.app SET time_zone = \(zone) WHERE id = \(app.id)")
            }
        }
    }
}
