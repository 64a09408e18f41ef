import FunnelOracle
import Postgres
import TestSupport

/// What an analyst sees of all funnels in one snapshot, and which laws it breaks.
struct FunnelReading: Equatable {
    /// A line for each law that does not hold.
    let broken: [String]
    /// Deliveries that are not silent.
    let delivered: Int
    let silent: Int

    /// Opens a snapshot of its own.
    init(on connection: inout Connection) throws {
        self = try connection.transaction(.repeatableReadOnly) { connection throws(PostgresError) in
            try FunnelReading(within: &connection)
        }
    }

    /// In the snapshot that is open. Funnels with sealed parts stand on more than the deliveries show.
    init(within connection: inout Connection, hasSealed: Bool = false) throws(PostgresError) {
        var tables: [FunnelTable] = []
        // An analyst sees no table behind a view.
        let isOwner: Bool = try connection.query("SELECT has_schema_privilege('projection', 'USAGE')")[0].get(0)
        for table in Funnels().tables where isOwner || table.source.hasPrefix("analytics.") {
            var rows: [[String?]] = []
            for row in try connection.query(Statement(table.query)) {
                var texts: [String?] = []
                for column in table.columns.indices { texts.append(try row.optional(column)) }
                rows.append(texts)
            }
            tables.append(table.with(rows))
        }
        broken = FunnelLaws.broken(by: tables, hasSealed: hasSealed)
        let isSilent =
            tables[0].columns.firstIndex(of: "silent").map { column in tables[0].rows.map { $0[column] } } ?? []
        (delivered, silent) = (isSilent.count { $0 == "false" }, isSilent.count { $0 == "true" })
    }
}
