internal import Postgres

/// Finds the deliveries behind a cell of one shard, those first that are stored otherwise than recounted.
struct Deliveries {
    /// SQL for the deliveries that the line stores; nil when nobody keeps them up to date.
    let stored: String?
    /// The table with the names of those that differ; nil when none does, or nobody knows.
    let differing: String?
    let limit: Int

    /// Those that the recount or the stored rows put into a cell.
    func behind(
        _ recount: Recount, cells: String, place: Int64, on connection: inout Connection
    ) throws(PostgresError) -> [Difference.Delivery] {
        let sources = ["(\(Recount.delivery.sql)) AS d"] + (stored.map { ["\($0) AS d"] } ?? [])
        let names = sources.map { source in
            """
            SELECT d.app, d.install_id, d.notification_key FROM \(source) CROSS JOIN cell
            WHERE \(recount.behind)
            """
        }
        let differs = differing.map {
            """
            EXISTS (
                SELECT FROM \($0) AS other
                WHERE other.app = named.app AND other.install_id = named.install_id
                    AND other.notification_key = named.notification_key)
            """
        }
        let sql = """
            WITH cell AS MATERIALIZED (SELECT * FROM \(cells) WHERE place = \(place)),
            named AS (\(names.joined(separator: "\nUNION\n")))
            SELECT install_id, notification_key, \(differs ?? "false") AS differs FROM named
            ORDER BY differs DESC, notification_key, install_id LIMIT \(limit)
            """
        var deliveries: [Difference.Delivery] = []
        for row in try connection.query(Statement(sql)) {
            deliveries.append(
                Difference.Delivery(
                    install: try row.get(0), notificationKey: try row.get(1),
                    differs: stored == nil ? nil : try row.get(2)))
        }
        return deliveries
    }
}
