internal import Postgres

/// Finds the deliveries behind a cell of one shard, first those whose stored row differs from the recount.
struct Deliveries {
    /// SQL for the deliveries that the generation stores; nil when nobody keeps them up to date.
    let stored: String?
    /// The table with the names of those that differ; nil if none does, or if that is unknown.
    let differing: String?
    let limit: Int

    /// The deliveries that the recount or the stored rows put into a cell.
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
                    install: try row.get("install_id"), notificationKey: try row.get("notification_key"),
                    differs: stored == nil ? nil : try row.get("differs")))
        }
        return deliveries
    }
}

extension Recount {
    /// The facts of each delivery as its row holds them. The state, which the fold keeps to merge later events, is not
    /// compared.
    package static let delivery = Recount(
        table: "delivery", projector: "deliveries",
        layout: DeliveryTable.layout, opened: DeliveryTable.opened,
        sql: """
            SELECT \(DeliveryTable.layout.compared.map(recounted).joined(separator: ", ")) FROM recount_delivery
            """,
        behind: """
            d.app = cell.app AND d.install_id = cell.install_id AND d.notification_key = cell.notification_key
            """)
    /// SQL for the value of a column as `recount_delivery` has it.
    private static func recounted(_ column: Column) -> String {
        switch column.name {
        case "flags":
            DeliveryFlags.names.enumerated().map { "\($1)::integer * \(1 << $0)" }.joined(separator: " + ")
                + " AS flags"
        case "received_at": "first_receipt_at AS received_at"
        default: quoted(column.name)
        }
    }
}
