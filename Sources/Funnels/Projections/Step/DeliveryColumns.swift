internal import Postgres
internal import Values

/// The columns of a delivery's row. The list, the insert and the update are kept together so that they do not drift
/// apart.
enum DeliveryColumns {
    static let names = [
        "key", "first_occurred_at", "last_occurred_at", "first_device_at", "last_device_at", "received_at",
        "extension_at", "opened_at",
        "first_response_at", "answered_at", "install_id", "generation", "app", "day", "flags", "codes", "category",
        "campaign",
        "variant", "thread", "platform", "app_version", "os_version", "device_model", "locale", "interruption_level",
        "topic", "analytics_label", "first_response", "items", "shard", "furthest", "pages", "notification_key",
        "state",
    ]

    /// Updates all changeable columns of these deliveries, found by key and name. NULL is sent as 0 or as another
    /// placeholder, since an array of plain numbers is quick to send.
    static func update(_ deliveries: [Delivery], in table: DeliveryTable) -> Statement {
        let facts = deliveries.map(\.facts)
        let attributes = facts.map(\.attributes)
        let times = deliveries.map(DeliveryTimes.init)
        return """
            UPDATE projection.\(identifier: table.name) AS d
            SET first_occurred_at = asked.first_occurred_at,
                last_occurred_at = nullif(asked.last_occurred_at, '-infinity'),
                first_device_at = nullif(asked.first_device_at, '-infinity'),
                last_device_at = nullif(asked.last_device_at, '-infinity'),
                received_at = nullif(asked.received_at, '-infinity'),
                extension_at = nullif(asked.extension_at, '-infinity'), opened_at = nullif(asked.opened_at, '-infinity'),
                first_response_at = nullif(asked.first_response_at, '-infinity'),
                answered_at = nullif(asked.answered_at, '-infinity'), day = asked.day, flags = asked.flags,
                codes = asked.codes,
                category = nullif(asked.category, 0), campaign = nullif(asked.campaign, 0), variant = nullif(asked.variant, 0),
                thread = nullif(asked.thread, 0), platform = nullif(asked.platform, 0),
                app_version = nullif(asked.app_version, 0), os_version = nullif(asked.os_version, 0),
                device_model = nullif(asked.device_model, 0), locale = nullif(asked.locale, 0),
                interruption_level = nullif(asked.interruption_level, 0), topic = nullif(asked.topic, 0),
                analytics_label = nullif(asked.analytics_label, 0), first_response = nullif(asked.first_response, 0),
                items = nullif(asked.items, 1), furthest = nullif(asked.furthest, -1), pages = nullif(asked.pages, 0),
                state = asked.state
            FROM unnest(
                \(deliveries.map { table.key(of: $0.name) }), \(deliveries.map(\.name.notificationKey)),
                \(deliveries.map(\.name.install)), \(deliveries.map(\.name.app)), \(deliveries.map(\.name.shard)),
                \(times.map(\.firstOccurredAt)), \(times.map { $0.lastOccurredAt ?? .never }),
                \(times.map { $0.firstDeviceAt ?? .never }), \(times.map { $0.lastDeviceAt ?? .never }),
                \(times.map { $0.receivedAt ?? .never }), \(times.map { $0.extensionAt ?? .never }),
                \(times.map { $0.openedAt ?? .never }),
                \(times.map { $0.firstResponseAt ?? .never }), \(times.map { $0.answeredAt ?? .never }),
                \(deliveries.map(\.day)), \(facts.map(\.flags.rawValue)), \(facts.map(DeliveryCode.packed)),
                \(attributes.map(\.category)), \(attributes.map(\.campaign)), \(attributes.map(\.variant)),
                \(attributes.map(\.thread)), \(attributes.map(\.platform)), \(attributes.map(\.appVersion)),
                \(attributes.map(\.osVersion)), \(attributes.map(\.deviceModel)), \(attributes.map(\.locale)),
                \(attributes.map(\.interruptionLevel)), \(attributes.map(\.topic)),
                \(attributes.map(\.analyticsLabel)), \(facts.map { $0.firstResponse?.kind.code ?? 0 }),
                \(facts.map(\.items)), \(facts.map { $0.story?.furthest ?? -1 }), \(facts.map { $0.story?.pages ?? 0 }),
                \(deliveries.map { Bytea($0.state.encoded()) })
            ) AS asked (
                key, notification_key, install_id, app, shard, first_occurred_at, last_occurred_at, first_device_at,
                last_device_at, received_at, extension_at, opened_at, first_response_at, answered_at, day, flags, codes, category, campaign,
                variant, thread, platform, app_version, os_version, device_model, locale, interruption_level, topic,
                analytics_label, first_response, items, furthest, pages, state)
            WHERE \(sql: DeliveryTable.isNamed)
            """
    }
}

extension CopyRows {
    /// One delivery as one row, in the order of `names`.
    mutating func append(_ delivery: Delivery, to table: DeliveryTable) {
        let facts = delivery.facts
        let attributes = facts.attributes
        let times = DeliveryTimes(delivery)
        func said(_ id: Int32) -> Int32? { id == 0 ? nil : id }
        beginRow()
        append(table.key(of: delivery.name))
        append(times.firstOccurredAt)
        append(times.lastOccurredAt)
        append(times.firstDeviceAt)
        append(times.lastDeviceAt)
        append(times.receivedAt)
        append(times.extensionAt)
        append(times.openedAt)
        append(times.firstResponseAt)
        append(times.answeredAt)
        append(delivery.name.install)
        append(table.number)
        append(delivery.name.app)
        append(delivery.day)
        append(facts.flags.rawValue)
        append(DeliveryCode.packed(facts))
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
        append(facts.story?.furthest)
        append(facts.story.flatMap { $0.pages == 0 ? nil : $0.pages })
        append(delivery.name.notificationKey)
        append(bytes: delivery.state.encoded())
    }
}

extension Facts.Response.Kind {
    /// The value as its column holds it.
    package var code: Int32 {
        switch self {
        case .opened: -1
        case .storyAction: -2
        case .action(let id): id
        }
    }
}

extension Timestamp {
    /// PostgreSQL's -infinity, the placeholder for a missing time.
    static var never: Timestamp { Timestamp(microseconds: .min + 946_684_800_000_000) }
}
