internal import Postgres
internal import Telemetry

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
                    install: try row.get(0), notificationKey: try row.get(1),
                    differs: stored == nil ? nil : try row.get(2)))
        }
        return deliveries
    }
}

extension Recount {
    /// The facts of each delivery as its row holds them. The state, which the fold keeps to merge later events, is not
    /// compared.
    package static let delivery = Recount(
        table: "delivery", projector: "deliveries",
        key: [Column("app", .app), Column("install_id"), Column("notification_key")],
        values: [
            Column("day"), Column("category", .word), Column("campaign", .word), Column("variant", .word),
            Column("thread", .word), Column("platform", .word), Column("app_version", .word),
            Column("os_version", .word), Column("device_model", .word), Column("locale", .word),
            Column("interruption_level", .word), Column("topic", .word), Column("analytics_label", .word),
            Column("first_response", .response), Column("items", absent: 1),
            Column(
                "flags",
                .flags([
                    "silent", "received", "expanded", "opened", "dismissed", "action_tapped", "story_action_tapped",
                    "media_attached", "story_started", "story_finished", "suppressed", "sole", "unsent",
                ])),
            Column("origin", .code(Origin.allCases.map(\.wire))),
            Column("media_kind", .code(MediaKind.allCases.map(\.wire))),
            Column("media_network", .code(MediaNetwork.allCases.map(\.wire))),
            Column("media_outcome", .code(MediaOutcome.allCases.map(\.wire))),
            Column("fetch_result", .code(FetchResult.allCases.map(\.wire))),
            Column("story_exit", .code(["clicked", "finished", "fallback", "abandoned"])),
            Column("authorization", .code(Authorization.allCases.map(\.wire))),
            Column("reach", .code(Reach.allCases.map(\.wire))),
            Column("launch", .code(Launch.allCases.map(\.wire))),
            Column("furthest", absent: -1), Column("pages", absent: 0),
            Column("received_at", .time), Column("extension_at", .time), Column("opened_at", .time),
            Column("first_response_at", .time),
            Column("first_occurred_at", .time), Column("last_occurred_at", .time), Column("first_device_at", .time),
            Column("last_device_at", .time), Column("answered_at", .time),
        ],
        opened: DeliveryTable.opened,
        sql: """
            SELECT
                app, install_id, notification_key,
                day, category, campaign, variant, thread, platform, app_version, os_version, device_model, locale,
                interruption_level, topic, analytics_label, first_response, items,
                silent::integer + received::integer * 2 + expanded::integer * 4 + opened::integer * 8
                    + dismissed::integer * 16 + action_tapped::integer * 32 + story_action_tapped::integer * 64
                    + media_attached::integer * 128 + story_started::integer * 256 + story_finished::integer * 512
                    + suppressed::integer * 1024 + sole::integer * 2048 + unsent::integer * 4096 AS flags,
                origin, media_kind, media_network, media_outcome, fetch_result, story_exit,
                "authorization", reach, launch, furthest, pages, first_receipt_at AS received_at, extension_at, opened_at, first_response_at,
                first_occurred_at, last_occurred_at, first_device_at, last_device_at, answered_at
            FROM recount_delivery
            """,
        behind: """
            d.app = cell.app AND d.install_id = cell.install_id AND d.notification_key = cell.notification_key
            """)
}
