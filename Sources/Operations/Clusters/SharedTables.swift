internal import Accounts
package import EventLog
package import Postgres
internal import Projections
internal import Registry
internal import Sends
internal import ServiceRuntime
internal import Values

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

    /// Fails if another cell has rows of these tables that the first one lacks, as after a restore: what is new would get
    /// a number that another cell knows for something else. Cells that do not answer cannot say.
    package func requireFirstIsWhole(_ tables: [SharedTable]) throws {
        for cell in others {
            for table in tables {
                guard let lacking = try? surplus(of: table, in: cell) else { break }
                if lacking > 0 { throw ClusterError.firstLacks(table.name, of: cell.name, first: try first.name) }
            }
        }
    }

    /// Brings back to the first cell what it lost of these tables and others still have, table by table: until one has
    /// something else there under the same number.
    func bringBack(_ tables: [SharedTable], from cells: [ClusterMap.Cell]) throws -> [Finding] {
        let first = try self.first
        var findings: [Finding] = []
        for cell in cells where cell.number != first.number {
            for table in tables where try surplus(of: table, in: cell) > 0 {
                let rows = try working(on: cell) { source in
                    try working(on: first) { target in try table.copyMissing(from: &source, to: &target) }
                }
                guard let rows else {
                    findings.append(
                        Finding(
                            cell: first.name,
                            what: "\(table.name) has rows that are something else in '\(cell.name)', so nothing more "
                                + "that it lacks is brought back from there",
                            isMended: false))
                    break
                }
                findings.append(
                    Finding(
                        cell: first.name,
                        what: "\(table.name) has \(String(counting: rows, "row", "rows")) again that it lacked and "
                            + "'\(cell.name)' has",
                        isMended: true))
            }
        }
        return findings
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
