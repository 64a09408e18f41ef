internal import Accounts
internal import Clusters
internal import Console
internal import EventLog
internal import Health
internal import Postgres
internal import ServiceRuntime

extension Examination {
    /// Whether a cell was restored from a backup, and whether the processes of the service can work in all of them.
    static let cluster = Examination(name: "cluster") { access, _ in
        guard let cluster = try access.cluster(log: Log.silent) else { return nil }
        cluster.followNewest()
        let cells = cluster.status()
        guard let ill = cells.first(where: { !$0.troubles.isEmpty }), let trouble = ill.troubles.first else {
            let away = cells.filter { if case .away = $0.answer { true } else { false } }
            return away.isEmpty
                ? .ok("no cell was restored, and the processes of the service can work in all of them")
                : .warn(
                    "cell '\(away[0].cell.name)' does not answer", do: "see bellwether cluster status", see: .cellAway)
        }
        return .fail(
            "cell '\(ill.cell.name)' \(trouble)", do: "see bellwether cluster status, and run bellwether cluster check",
            see: .cellAway)
    }

    /// Whether a hub can read each of its cells, and whether these are well.
    static let cells = Examination(name: "cells") { access, connection in
        guard try LogTails.isHub(&connection) else { return nil }
        let log = Log.silent
        guard let cluster = try access.cluster(log: log) else { return nil }
        let known = cluster.map.epoch
        cluster.followNewest()
        guard cluster.map.epoch == known else {
            return .fail(
                "this hub has the map of epoch \(known), and the newest one is of \(cluster.map.epoch)",
                do: "run bellwether cluster check", see: .cellAway)
        }
        let databases = cluster.workplaces
        for database in databases {
            guard let name = database.name else { continue }
            if let fault = try fault(of: name, through: &connection) { return fault }
            do { try DatabaseFit.exact.check(database.url, log: log) } catch {
                return .fail(
                    "\(database.error(error))", do: "start the cell, or migrate it with this version of the program",
                    see: .cellAway)
            }
        }
        return .ok("all \(databases.count) cells can be read through this hub, and their funnels move")
    }

    /// What is wrong with a cell as the hub sees it.
    private static func fault(of cell: String, through connection: inout Connection) throws(PostgresError) -> Finding? {
        do {
            let ill = try connection.query(
                """
                SELECT name, status, coalesce(stopped_because, '') FROM hub.projections
                WHERE cell = \(cell) AND status <> 'running' ORDER BY status = 'stopped' DESC, name LIMIT 1
                """)
            guard let row = ill.first else { return nil }
            let (name, status, reason): (String, String, String) = (try row.get(0), try row.get(1), try row.get(2))
            return .fail(
                "\(name) of cell '\(cell)' is \(status)\(reason.isEmpty ? "" : ": \(reason)")",
                do: "run bellwether doctor in that cell", see: .cellAway)
        } catch {
            guard connection.isUsable, error.state != nil else { throw error }
            return .fail(
                "cell '\(cell)' cannot be read through this hub: \(error)",
                do:
                    "start the cell; if its place or the owner's password has changed, "
                    + "run bellwether cluster add --hub again for this hub",
                see: .cellAway)
        }
    }
}
