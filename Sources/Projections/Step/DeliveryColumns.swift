internal import Postgres
internal import Telemetry

/// The columns of a delivery's row: list, writer and update stand together, or they drift.
enum DeliveryColumns {
    static let names = [
        "key", "first_occurred_at", "last_occurred_at", "first_device_at", "last_device_at", "received_at", "opened_at",
        "first_response_at", "answered_at", "install_id", "tables", "app", "day", "flags", "category", "campaign",
        "variant", "thread", "platform", "app_version", "os_version", "device_model", "locale", "interruption_level",
        "topic", "analytics_label", "first_response", "items", "shard", "origin", "authorization", "launch",
        "media_kind",
        "media_network", "media_outcome", "fetch_result", "story_exit", "furthest", "pages", "notification_key",
        "state",
    ]

    /// Sets all that can change of these deliveries, found by key and name. What a delivery does not say comes as 0, or as
    /// what stands for it, since an array of plain numbers is quick to send.
    static func update(_ deliveries: [Delivery], in table: DeliveryTable) -> Statement {
        let spans = deliveries.map(\.state.span)
        let facts = deliveries.map(\.facts)
        let attributes = facts.map(\.attributes)
        return """
            UPDATE projection.\(identifier: table.name) AS d
            SET first_occurred_at = asked.first_occurred_at, last_occurred_at = asked.last_occurred_at,
                first_device_at = asked.first_device_at, last_device_at = asked.last_device_at, day = asked.day,
                received_at = nullif(asked.received_at, '-infinity'), opened_at = nullif(asked.opened_at, '-infinity'),
                first_response_at = nullif(asked.first_response_at, '-infinity'),
                answered_at = nullif(asked.answered_at, '-infinity'), flags = asked.flags,
                category = nullif(asked.category, 0), campaign = nullif(asked.campaign, 0), variant = nullif(asked.variant, 0),
                thread = nullif(asked.thread, 0), platform = nullif(asked.platform, 0),
                app_version = nullif(asked.app_version, 0), os_version = nullif(asked.os_version, 0),
                device_model = nullif(asked.device_model, 0), locale = nullif(asked.locale, 0),
                interruption_level = nullif(asked.interruption_level, 0), topic = nullif(asked.topic, 0),
                analytics_label = nullif(asked.analytics_label, 0), first_response = nullif(asked.first_response, 0),
                items = nullif(asked.items, 1), origin = nullif(asked.origin, 0),
                "authorization" = nullif(asked.authorization_code, 0), launch = nullif(asked.launch, 0),
                media_kind = nullif(asked.media_kind, 0), media_network = nullif(asked.media_network, 0),
                media_outcome = nullif(asked.media_outcome, 0), fetch_result = nullif(asked.fetch_result, 0),
                story_exit = nullif(asked.story_exit, 0), furthest = nullif(asked.furthest, -1),
                pages = nullif(asked.pages, 0), state = asked.state
            FROM unnest(
                \(deliveries.map { table.key(of: $0.name) }), \(deliveries.map(\.name.notificationKey)),
                \(deliveries.map(\.name.install)), \(deliveries.map(\.name.app)), \(deliveries.map(\.name.shard)),
                \(spans.map(\.firstOccurredAt)), \(spans.map(\.lastOccurredAt)), \(spans.map(\.firstDeviceAt)),
                \(spans.map(\.lastDeviceAt)), \(facts.map { $0.receivedAt ?? .never }),
                \(facts.map { $0.openedAt ?? .never }), \(facts.map { $0.firstResponse?.at ?? .never }),
                \(facts.map { $0.answeredAt ?? .never }), \(deliveries.map(\.day)), \(facts.map(\.flags.rawValue)),
                \(attributes.map(\.category)), \(attributes.map(\.campaign)), \(attributes.map(\.variant)),
                \(attributes.map(\.thread)), \(attributes.map(\.platform)), \(attributes.map(\.appVersion)),
                \(attributes.map(\.osVersion)), \(attributes.map(\.deviceModel)), \(attributes.map(\.locale)),
                \(attributes.map(\.interruptionLevel)), \(attributes.map(\.topic)),
                \(attributes.map(\.analyticsLabel)), \(facts.map { $0.firstResponse?.kind.code ?? 0 }),
                \(facts.map(\.items)), \(attributes.map(\.origin)), \(attributes.map(\.authorization)),
                \(attributes.map(\.launch)), \(facts.map(\.media.kind)), \(facts.map(\.media.network)),
                \(facts.map(\.media.outcome)), \(facts.map(\.fetchResult)),
                \(facts.map { $0.story?.exit.rawValue ?? 0 }), \(facts.map { $0.story?.furthest ?? -1 }),
                \(facts.map { $0.story?.pages ?? 0 }), \(deliveries.map { Bytea($0.state.encoded()) })
            ) AS asked (
                key, notification_key, install_id, app, shard, first_occurred_at, last_occurred_at, first_device_at,
                last_device_at, received_at, opened_at, first_response_at, answered_at, day, flags, category, campaign,
                variant, thread, platform, app_version, os_version, device_model, locale, interruption_level, topic,
                analytics_label, first_response, items, origin, authorization_code, launch, media_kind, media_network,
                media_outcome, fetch_result, story_exit, furthest, pages, state)
            WHERE \(sql: DeliveryTable.isNamed)
            """
    }
}

extension CopyRows {
    /// One delivery as one row, in the order of `names`.
    mutating func append(_ delivery: Delivery, to table: DeliveryTable) {
        let facts = delivery.facts
        let attributes = facts.attributes
        func said(_ id: Int32) -> Int32? { id == 0 ? nil : id }
        func said(_ code: Int16) -> Int16? { code == 0 ? nil : code }
        beginRow()
        append(table.key(of: delivery.name))
        append(delivery.state.span.firstOccurredAt)
        append(delivery.state.span.lastOccurredAt)
        append(delivery.state.span.firstDeviceAt)
        append(delivery.state.span.lastDeviceAt)
        append(facts.receivedAt)
        append(facts.openedAt)
        append(facts.firstResponse?.at)
        append(facts.answeredAt)
        append(delivery.name.install)
        append(table.number)
        append(delivery.name.app)
        append(delivery.day)
        append(facts.flags.rawValue)
        append(said(attributes.category))
        append(said(attributes.campaign))
        append(said(attributes.variant))
        append(said(attributes.thread))
        append(said(attributes.platform))
        append(said(attributes.appVersion))
        append(said(attributes.osVersion))
        append(said(attributes.deviceModel))
        append(said(attributes.locale))
        append(said(attributes.interruptionLevel))
        append(said(attributes.topic))
        append(said(attributes.analyticsLabel))
        append(facts.firstResponse?.kind.code)
        append(facts.items == 1 ? nil : facts.items)
        append(delivery.name.shard)
        append(said(attributes.origin))
        append(said(attributes.authorization))
        append(said(attributes.launch))
        append(said(facts.media.kind))
        append(said(facts.media.network))
        append(said(facts.media.outcome))
        append(said(facts.fetchResult))
        append(facts.story?.exit.rawValue)
        append(facts.story?.furthest)
        append(said(facts.story?.pages ?? 0))
        append(delivery.name.notificationKey)
        append(bytes: delivery.state.encoded())
    }
}

extension Facts.Response.Kind {
    /// As its column holds it.
    package var code: Int32 {
        switch self {
        case .opened: -1
        case .storyAction: -2
        case .action(let id): id
        }
    }
}

extension Timestamp {
    /// Before all times, for one that is not there: PostgreSQL's -infinity.
    fileprivate static var never: Timestamp { Timestamp(microseconds: .min + 946_684_800_000_000) }
}
