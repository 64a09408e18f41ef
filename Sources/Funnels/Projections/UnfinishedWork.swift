internal import EventLog
package import Postgres

/// Work that a command began and has not finished: it is running now, or was interrupted.
package struct UnfinishedWork: Sendable, Equatable {
    /// A description that continues a sentence after "unfinished: ".
    package let what: String
    /// The command that finishes it if nobody is doing so.
    package let remedy: String

    package static func all(on connection: inout Connection) throws(PostgresError) -> [UnfinishedWork] {
        try erasures(on: &connection) + requestedErasures(on: &connection) + automaticRebuilds(on: &connection)
            + wordChanges(on: &connection)
            + rebuilds(on: &connection)
            + zoneChanges(on: &connection)
            + retentions(on: &connection)
    }

    private static func erasures(on connection: inout Connection) throws(PostgresError) -> [UnfinishedWork] {
        var work: [UnfinishedWork] = []
        for erasure in try Erasure.unfinished(on: &connection) {
            let app: String = try connection.query("SELECT slug FROM log.app WHERE id = \(erasure.app)").value()
            work.append(
                UnfinishedWork(
                    what: "the erasure of an install of \(app), started at \(erasure.erasedAt)",
                    remedy: "bellwether erase --app \(app) --install \(erasure.install)"))
        }
        return work
    }

    private static func requestedErasures(on connection: inout Connection) throws(PostgresError) -> [UnfinishedWork] {
        let backlog = try ErasureRequest.backlog(on: &connection)
        guard let oldest = backlog.oldest else { return [] }
        let installs = backlog.count == 1 ? "1 install waits" : "\(backlog.count) installs wait"
        let fault = backlog.fault.map { "; the last attempt failed: \($0)" } ?? ""
        return [
            UnfinishedWork(
                what: "\(installs) to be erased, asked for by an app's server since \(oldest)\(fault)",
                remedy: "bellwether erase --requested, or a running serve that is logged in as the owner")
        ]
    }

    private static func automaticRebuilds(on connection: inout Connection) throws(PostgresError) -> [UnfinishedWork] {
        let due = try AutomaticRebuild.dueByRules(on: &connection)
        guard !due.isEmpty else { return [] }
        return [
            UnfinishedWork(
                what: "the rebuild of what older rules counted (\(due.joined(separator: ", ")))",
                remedy: "bellwether rebuild")
        ]
    }

    private static func wordChanges(on connection: inout Connection) throws(PostgresError) -> [UnfinishedWork] {
        guard try AutomaticRebuild.isDueByWords(on: &connection) else { return [] }
        return [
            UnfinishedWork(
                what: "the rebuild after words were merged or pruned", remedy: "bellwether rebuild, or a running serve")
        ]
    }

    private static func rebuilds(on connection: inout Connection) throws(PostgresError) -> [UnfinishedWork] {
        var work: [UnfinishedWork] = []
        for row in try connection.query(
            """
            SELECT l.made_at::text AS begun, min(p.position) AS position
            FROM projection.generation AS l JOIN projection.progress AS p ON p.generation = l.id
            WHERE l.state = 'building' GROUP BY l.id
            """)
        {
            let (begun, position): (String, Int64) = (try row.get("begun"), try row.get("position"))
            work.append(
                UnfinishedWork(
                    what: "a rebuild started at \(begun), now at batch \(position)", remedy: "bellwether rebuild"))
        }
        return work
    }

    private static func zoneChanges(on connection: inout Connection) throws(PostgresError) -> [UnfinishedWork] {
        try ZoneChange.pending(.recorded, on: &connection).map { change in
            UnfinishedWork(
                what: "the move of \(change.slug) to days in \(change.timeZone)",
                remedy: "bellwether project --once, or a running serve")
        }
    }

    private static func retentions(on connection: inout Connection) throws(PostgresError) -> [UnfinishedWork] {
        let months: Int64 = try connection.query(
            "SELECT count(*) FROM log.partition WHERE closed_at IS NOT NULL AND dropped_at IS NULL"
        ).value()
        guard months > 0 else { return [] }
        return [
            UnfinishedWork(
                what: "dropping \(months) month\(months == 1 ? "" : "s") closed by retain",
                remedy: "bellwether retain with the same --days")
        ]
    }
}
