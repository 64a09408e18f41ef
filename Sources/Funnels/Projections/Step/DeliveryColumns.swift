internal import Postgres
internal import Values

/// The columns of a delivery's row. The list and what writes a row are kept together so that they do not drift apart.
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
