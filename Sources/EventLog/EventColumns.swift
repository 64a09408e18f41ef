internal import Postgres
internal import Telemetry

/// The columns of `log.event` in the order in which a row is written: list and writer stand together, or they drift.
enum EventColumns {
    static let names = [
        "batch_id", "device_at", "occurred_at", "received_at", "seq", "notification_sent_at", "media_bytes",
        "declared_ms", "summary_argument_count", "action_index", "action_count", "event_id", "install_id", "app", "key",
        "category", "thread", "campaign", "variant", "analytics_label", "topic", "interruption_level", "platform",
        "os_version", "app_version", "sdk", "device_model", "locale", "time_zone", "action_id", "link_scheme",
        "link_host", "media_format", "media_ms", "shard", "type", "time_source", "key_source", "origin",
        "authorization", "via", "presentation", "fetch_result", "media_kind", "media_outcome", "media_reason",
        "media_network", "launch", "activation", "handled_in", "page_count", "declared_page_count", "page_index",
        "cause", "fallback_reason", "alert", "destructive", "authentication_required", "text_input", "loops",
        "notification_key", "fcm_message_id", "delivery_id", "notification_id", "apns_id", "collapse_id", "fid",
        "extra",
    ]

    static let copy =
        "COPY log.event (\(names.map(Statement.quoted).joined(separator: ", "))) FROM STDIN (FORMAT binary)"
}

/// Which of a notification's three ids became its key. The codes are frozen: stored events hold them.
enum KeySource: Int16 {
    case fcmMessageID = 1
    case deliveryID
    case notificationID

    init(of notification: Notification) {
        self =
            notification.fcmMessageID != nil
            ? .fcmMessageID : notification.deliveryID != nil ? .deliveryID : .notificationID
    }
}

extension CopyRows {
    /// One event as one row.
    mutating func append(_ event: Event, batchID: Int64, app: Int32, key: Int32, words: WordIDs) {
        let notification = event.notification
        let source = event.source
        let own = OwnMembers(of: event.interaction)
        beginRow()
        append(batchID)
        append(event.deviceAt)
        append(event.occurredAt)
        append(event.receivedAt)
        append(event.seq)
        append(notification.sentAt)
        append(own.receipt?.media?.bytes)
        append(own.page?.declaredMS)
        append(own.receipt?.summaryArgumentCount)
        append(own.tap?.actionIndex)
        append(own.tap?.actionCount)
        append(event.id)
        append(source.installID)
        append(app)
        append(key)
        for kind in [
            WordKind.category, .thread, .campaign, .variant, .analyticsLabel, .topic, .interruptionLevel, .platform,
            .osVersion, .appVersion, .sdk, .deviceModel, .locale, .timeZone, .actionID, .linkScheme, .linkHost,
            .mediaFormat,
        ] {
            append(words[kind])
        }
        append(own.receipt?.media?.ms)
        append(event.shard)
        append(event.type.rawValue)
        append(event.timeSource.rawValue)
        let keySource = KeySource(of: notification)
        append(keySource.rawValue)
        append(notification.origin?.rawValue)
        append(source.authorization?.rawValue)
        append(own.receipt?.via?.rawValue)
        append(own.receipt?.presentation.map(Self.bits))
        append(own.receipt?.fetchResult?.rawValue)
        append(own.receipt?.media?.kind?.rawValue)
        append(own.receipt?.media?.outcome?.rawValue)
        append(own.receipt?.media?.reason?.rawValue)
        append(own.receipt?.media?.network?.rawValue)
        append(own.launch?.rawValue)
        append(own.tap?.activation?.rawValue)
        append(own.tap?.handledIn?.rawValue)
        append(own.start?.pageCount)
        append(own.start?.declaredPageCount)
        append(own.page?.pageIndex ?? own.storyTap?.pageIndex)
        append(own.page?.cause?.rawValue)
        append(own.fallbackReason?.rawValue)
        append(notification.alert)
        append(own.tap?.destructive)
        append(own.tap?.authenticationRequired)
        append(own.tap?.textInput)
        append(own.start?.loops)
        let notificationKey = event.notificationKey ?? ""
        append(notificationKey)
        // The id that became the key is not stored twice.
        append(notification.fcmMessageID == notificationKey ? nil : notification.fcmMessageID)
        append(keySource == .deliveryID ? nil : notification.deliveryID)
        append(keySource == .notificationID ? nil : notification.id)
        append(notification.apnsID)
        append(notification.collapseID)
        append(source.fid)
        append(event.extra.map { JSONB($0) })
    }

    /// A set of options as bits, the first of the enumeration lowest.
    private static func bits(_ options: [PresentationOption]) -> Int16 {
        options.reduce(0) { $0 | 1 << ($1.rawValue - 1) }
    }
}

/// The payload of an interaction, one optional for each kind.
private struct OwnMembers {
    var receipt: Receipt?
    var tap: ActionTap?
    var start: StoryStart?
    var page: PageShown?
    var storyTap: StoryActionTap?
    var launch: Launch?
    var fallbackReason: FallbackReason?

    init(of interaction: Interaction) {
        switch interaction {
        case .received(let receipt): self.receipt = receipt
        case .opened(let launch): self.launch = launch
        case .actionTapped(let tap):
            self.tap = tap
            launch = tap.launch
        case .storyStarted(let start): self.start = start
        case .pageShown(let page): self.page = page
        case .storyActionTapped(let tap): storyTap = tap
        case .fallbackShown(let reason): fallbackReason = reason
        case .expanded, .dismissed, .storyFinished, .permissionChanged: break
        }
    }
}
