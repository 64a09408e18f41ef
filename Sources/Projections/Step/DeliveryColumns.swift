internal import Postgres
internal import Telemetry

/// The columns of a delivery's row: list, writer and update stand together, or they drift.
enum DeliveryColumns {
    static let names = [
        "first_occurred_at", "last_occurred_at", "first_device_at", "last_device_at", "install_id", "tables", "app",
        "day",
        "category", "campaign", "variant", "thread", "platform", "app_version", "items", "flags", "shard", "origin",
        "media_kind", "media_network", "media_outcome", "fetch_result", "story_exit", "furthest", "pages",
        "notification_key", "state", "answered_at",
    ]

    /// Sets all that can change of these deliveries, found by their key.
    static func update(_ deliveries: [Delivery], in table: String) -> Statement {
        let spans = deliveries.map(\.state.span)
        let facts = deliveries.map(\.facts)
        let attributes = facts.map(\.attributes)
        return """
            UPDATE projection.\(identifier: table) AS d
            SET first_occurred_at = new.first_occurred_at, last_occurred_at = new.last_occurred_at,
                first_device_at = new.first_device_at, last_device_at = new.last_device_at, day = new.day,
                category = new.category, campaign = new.campaign, variant = new.variant, thread = new.thread,
                platform = new.platform, app_version = new.app_version, items = new.items, flags = new.flags,
                origin = new.origin, media_kind = new.media_kind, media_network = new.media_network,
                media_outcome = new.media_outcome, fetch_result = new.fetch_result, story_exit = new.story_exit,
                furthest = new.furthest, pages = new.pages, state = new.state,
                answered_at = CASE WHEN new.flags & \(DeliveryFlags.answered.rawValue) <> 0 THEN new.answered_at END
            FROM unnest(
                \(deliveries.map(\.name.notificationKey)), \(deliveries.map(\.name.install)),
                \(deliveries.map(\.name.app)), \(deliveries.map(\.name.shard)),
                \(spans.map(\.firstOccurredAt)), \(spans.map(\.lastOccurredAt)), \(spans.map(\.firstDeviceAt)),
                \(spans.map(\.lastDeviceAt)), \(deliveries.map(\.day)),
                \(attributes.map(\.category)), \(attributes.map(\.campaign)), \(attributes.map(\.variant)),
                \(attributes.map(\.thread)), \(attributes.map(\.platform)), \(attributes.map(\.appVersion)),
                \(facts.map(\.items)), \(facts.map(\.flags.rawValue)), \(attributes.map(\.origin)),
                \(facts.map(\.media.kind)), \(facts.map(\.media.network)), \(facts.map(\.media.outcome)),
                \(facts.map(\.fetchResult)), \(facts.map(\.storyExitCode)), \(facts.map(\.furthestPage)),
                \(facts.map(\.pageCount)), \(deliveries.map { Bytea($0.state.encoded()) }),
                \(zip(facts, spans).map { $0.answeredAt ?? $1.firstOccurredAt })
            ) AS new (
                notification_key, install_id, app, shard, first_occurred_at, last_occurred_at, first_device_at,
                last_device_at, day, category, campaign, variant, thread, platform, app_version, items, flags, origin,
                media_kind, media_network, media_outcome, fetch_result, story_exit, furthest, pages, state,
                answered_at)
            WHERE d.notification_key = new.notification_key AND d.install_id = new.install_id AND d.app = new.app
                AND d.shard = new.shard
            """
    }
}

extension CopyRows {
    /// One delivery as one row, in the order of `names`.
    mutating func append(_ delivery: Delivery, tables: Int32) {
        let facts = delivery.facts
        let attributes = facts.attributes
        beginRow()
        append(delivery.state.span.firstOccurredAt)
        append(delivery.state.span.lastOccurredAt)
        append(delivery.state.span.firstDeviceAt)
        append(delivery.state.span.lastDeviceAt)
        append(delivery.name.install)
        append(tables)
        append(delivery.name.app)
        append(delivery.day)
        append(attributes.category)
        append(attributes.campaign)
        append(attributes.variant)
        append(attributes.thread)
        append(attributes.platform)
        append(attributes.appVersion)
        append(facts.items)
        append(facts.flags.rawValue)
        append(delivery.name.shard)
        append(attributes.origin)
        append(facts.media.kind)
        append(facts.media.network)
        append(facts.media.outcome)
        append(facts.fetchResult)
        append(facts.storyExitCode)
        append(facts.furthestPage)
        append(facts.pageCount)
        append(delivery.name.notificationKey)
        append(bytes: delivery.state.encoded())
        append(facts.answeredAt)
    }
}

extension Facts {
    /// As the columns hold them: 0 for no story and no page known, -1 where no page was reached.
    fileprivate var storyExitCode: Int16 { story?.exit.rawValue ?? 0 }
    fileprivate var furthestPage: Int16 { story?.furthest ?? -1 }
    fileprivate var pageCount: Int16 { story?.pages ?? 0 }
}
