/// The members of an event, in the order of the columns of `analytics.events`. To add one, add a case and its
/// declaration.
package enum Member: UInt8, CaseIterable, Sendable {
    case eventID, type, deviceAt, seq, notification, source
    case installID
    case fcmMessageID, deliveryID, notificationID
    case category, thread, campaign, variant, origin
    case platform, appVersion, osVersion, sdk, deviceModel, locale, timeZone, authorization, showPreviews, fid
    case settings, settingAlerts, settingLockScreen, settingNotificationCenter, settingSounds, settingBadges
    case settingTimeSensitive, settingScheduledSummary
    case alert, sentAt, analyticsLabel, topic, apnsID, collapseID, interruptionLevel
    case relevanceScore, targetContentID, summaryArgument
    case via, presentation, fetchResult, media
    case mediaKind, mediaFormat, mediaOutcome, mediaReason, mediaBytes, mediaMS, mediaNetwork
    case summaryArgumentCount
    case launch
    case actionID, actionIndex, actionCount, activation, destructive, authenticationRequired, textInput, handledIn
    case pageCount, declaredPageCount, loops
    case pageIndex, declaredMS, cause
    case linkScheme, linkHost
    case reason
    case newAuthorization, previous
    case goal, goalValue, currency

    package var declaration: Declaration { Member.declarations[Int(rawValue)] }

    private static let declarations = allCases.map(\.declared)

    // swift-format-ignore
    private var declared: Declaration {
        switch self {
        case .eventID: event("id", .uuid, in: .column("event_id"), required: true,
            "Id that the client library gave the event. Its identity is (app, install_id, event_id, device_at)",
            wire: "Made once by the client, before the first attempt to send; a retry repeats it. "
                + "Version 7 is a good choice; any version is accepted")
        case .type: event("type", .type, in: .common(Bits(10, 5)), required: true,
            "Event type, as posted: notification.received, notification.opened, action.tapped, story.page_shown, ...",
            wire: "What happened")
        case .deviceAt: event("at", .time, in: .column("device_at"), required: true,
            "When it happened according to the device's clock, as posted and never corrected",
            wire: "The device's clock when it happened. Part of the event's identity: a retry repeats it unchanged. "
                + "If it (as corrected by `sent_at`) is more than 5 minutes ahead of the server, "
                + "the time of receipt counts instead. Old events are welcome")
        case .seq: event("seq", .integer(Bounds.seq), in: .column("seq"),
            "Counter of the client library on the install; gives the order of events with the same time")
        case .notification: event("notification", .object(.notification), in: .none,
            of: EventTypes(where: \.mayHaveNotification), required: true,
            "Which notification it is about. For goal.reached it is optional",
            wire: "Which notification it is about")
        case .source: event("source", .object(.source), in: .none,
            "The install and what it runs on. Each member that is given here overrides the envelope's")

        case .installID: source("install_id", .uuid, in: .column("install_id"), required: true,
            "One installation of the app on one device. Never a person",
            wire: "A random UUID that the client made when the app was installed. Never a person")
        case .platform: source("platform", .string(.platform),
            "Operating system of the device, as posted")
        case .appVersion: source("app_version", .string(.appVersion),
            "Version of the app on the device when the event was made")
        case .osVersion: source("os_version", .string(.osVersion),
            "Version of the operating system")
        case .sdk: source("sdk", .string(.sdk),
            "Client library and its version")
        case .deviceModel: source("device_model", .string(.deviceModel),
            "Model of the device")
        case .locale: source("locale", .string(.locale),
            "Locale of the device")
        case .timeZone: source("time_zone", .string(.timeZone),
            "Time zone of the device; days are counted in the app's time zone, not in this one")
        case .authorization: source("authorization", .code(Authorization.self),
            "What the user allows the app to show: authorized, provisional, ephemeral, denied or not_determined. "
                + "For permission.changed, the new state",
            wire: "What the user allows the app to show")
        case .showPreviews: source("show_previews", .code(ShowPreviews.self),
            "When the user lets notifications show their content: always, when_authenticated or never",
            wire: "When the user lets notifications show their content")
        case .fid: source("fid", .identifier, in: .column("fid"),
            "Firebase installation id, if the app sends it")

        case .settings: source("settings", .object(.settings), in: .none,
            "How the system shows the app's notifications, as the user has set it. "
                + "An event's own object replaces the envelope's as a whole")
        case .settingAlerts: setting("alerts",
            "Whether notifications may appear as banners")
        case .settingLockScreen: setting("lock_screen",
            "Whether they may appear on the lock screen")
        case .settingNotificationCenter: setting("notification_center",
            "Whether they may appear in the notification centre")
        case .settingSounds: setting("sounds",
            "Whether they may make a sound")
        case .settingBadges: setting("badges",
            "Whether the app's icon may show a number")
        case .settingTimeSensitive: setting("time_sensitive",
            "Whether time-sensitive ones may break through a Focus")
        case .settingScheduledSummary: setting("scheduled_summary",
            "Whether they wait for the scheduled summary")

        case .fcmMessageID: notification("fcm_message_id", .identifier, in: .key("fcm_message_id"),
            "FCM message ID as posted, before normalisation",
            wire: "As Firebase gives it. `projects/<project>/messages/<rest>`, `0:<digits>%<hex>` "
                + "and `<digits>` are recognised as spellings of one id; the spelling you send is kept too")
        case .deliveryID: notification("delivery_id", .identifier, in: .key("delivery_id"),
            "The provider's own id of this delivery, "
                + "or the one that the client library made for a repeating local notification",
            wire: "The provider's own id of this delivery, if the provider is not Firebase. "
                + "For a local notification that repeats, a value made from its request identifier and the firing time")
        case .notificationID: notification("id", .identifier, in: .key("notification_id"), column: "notification_id",
            "Request identifier of the notification")
        case .category: notification("category", .identifier(.category),
            "Identifier of the notification category, which decides its buttons")
        case .thread: notification("thread", .identifier(.thread),
            "Notification group (thread identifier)")
        case .campaign: notification("campaign", .identifier(.campaign),
            "Campaign as posted")
        case .variant: notification("variant", .identifier(.variant),
            "Variant of the campaign, for experiments")
        case .origin: notification("origin", .code(Origin.self), in: .common(Bits(19, 2)),
            "remote or local",
            wire: "Whether a server sent it or the app scheduled it")
        case .alert: notification("alert", .boolean, in: .common(Bits(21, 2)),
            "Whether the payload shows anything; false or null for silent pushes")
        case .sentAt: notification("sent_at", .time, in: .column("notification_sent_at"),
            column: "notification_sent_at", "When the notification was sent, according to the sender",
            wire: "When the notification was sent, according to the sender. An unreadable value is kept in `extra`")
        case .analyticsLabel: notification("analytics_label", .identifier(.analyticsLabel),
            "FCM analytics label")
        case .topic: notification("topic", .identifier(.topic),
            "FCM topic that it was sent to")
        case .apnsID: notification("apns_id", .identifier, in: .rare,
            "Apple's id of the push")
        case .collapseID: notification("collapse_id", .identifier, in: .rare,
            "Collapse identifier: a later push with the same identifier replaces this one")
        case .interruptionLevel: notification("interruption_level", .string(.interruptionLevel),
            "passive, active, time-sensitive or critical, as posted")
        case .relevanceScore: notification("relevance_score", .number(Bounds.relevance), in: .rare,
            "How the sender ranks it among the app's notifications: 0 to 1")
        case .targetContentID: notification("target_content_id", .identifier, in: .rare,
            "Which window or content of the app it is for")
        case .summaryArgument: notification("summary_argument", .string, in: .rare,
            "Its name in the summary of its group")

        case .via: own("via", .code(Via.self), of: [.notificationReceived], in: .own(Bits(0, 4)),
            "How the app learned of it: service_extension, foreground, background (silent push) or delivered_list "
                + "(found later in the notification centre). Without a service extension, iOS runs no code "
                + "for an untouched push, so a missing receipt does not mean that the push was not delivered",
            wire: "How the app learned of it: `background` is a silent push, "
                + "`delivered_list` means that it was found in the notification centre later")
        case .presentation: own("presentation", .codes(PresentationOption.self), of: [.notificationReceived],
            in: .own(Bits(24, 6)), "Foreground receipts: how the app showed it; an empty list means that it was not shown",
            wire: "In the foreground, how the app showed it. An empty list means that it was not shown")
        case .fetchResult: own("fetch_result", .code(FetchResult.self), of: [.notificationReceived],
            in: .own(Bits(4, 4)), "Background receipts: new_data, no_data or failed",
            wire: "In the background, the result of the silent push")
        case .media: own("media", .object(.media), of: [.notificationReceived], in: .none,
            "What happened to the media attachment")
        case .mediaKind: media("kind", .code(MediaKind.self), in: .own(Bits(8, 4)),
            "Kind of the media attachment")
        case .mediaFormat: media("format", .string(.mediaFormat), in: .word(1),
            "File format of the media attachment, as posted")
        case .mediaOutcome: media("outcome", .code(MediaOutcome.self), in: .own(Bits(12, 4)),
            "What happened to the attachment: attached, prefetched, timed_out, failed, skipped or none",
            wire: "What happened to the attachment; `none` means that there was nothing to load")
        case .mediaReason: media("reason", .code(MediaReason.self), in: .own(Bits(16, 4)),
            "Why it was not attached")
        case .mediaBytes: media("bytes", .count, in: .amount(1),
            "Size of the attachment in bytes")
        case .mediaMS: media("ms", .integer(Bounds.mediaMilliseconds), in: .amount(2),
            "How long its download took, in milliseconds")
        case .mediaNetwork: media("network", .code(MediaNetwork.self), in: .own(Bits(20, 4)),
            "Network it was loaded over: wifi, cellular or other",
            wire: "The network it was loaded over")
        case .summaryArgumentCount: own("summary_argument_count", .count, of: [.notificationReceived], in: .rare,
            "How many items the notification stands for in its group's summary")

        case .launch: own("launch", .code(Launch.self), of: [.notificationOpened, .actionTapped], in: .own(Bits(0, 4)),
            "State of the app when the response reached it: cold, warm or foreground")

        case .actionID: own("action_id", .identifier(.actionID), of: [.actionTapped], in: .word(1), required: true,
            "Identifier of the button")
        case .actionIndex: own("action_index", .count, of: [.actionTapped], in: .amount(1),
            "Index of the button in the category, from 0")
        case .actionCount: own("action_count", .count, of: [.actionTapped], in: .amount(2),
            "How many buttons the category had on that device")
        case .activation: own("activation", .code(Activation.self), of: [.actionTapped], in: .own(Bits(4, 4)),
            "Whether the button opens the app (foreground) or not (background)",
            wire: "Whether the button brings the app to the front")
        case .destructive: own("destructive", .boolean, of: [.actionTapped], in: .own(Bits(12, 2)),
            "Whether the button is shown as destructive")
        case .authenticationRequired: own("authentication_required", .boolean, of: [.actionTapped],
            in: .own(Bits(14, 2)), "Whether the device must be unlocked for the button")
        case .textInput: own("text_input", .boolean, of: [.actionTapped], in: .own(Bits(16, 2)),
            "Whether the button asks for text. The text itself is never stored")
        case .handledIn: own("handled_in", .code(HandledIn.self), of: [.actionTapped], in: .own(Bits(8, 4)),
            "Where the tap was handled: app or content_extension",
            wire: "Where the tap was handled")

        case .pageCount: own("page_count", .integer(Bounds.pageCount), of: [.storyStarted], in: .own(Bits(0, 10)),
            required: true, "Number of pages that the story will show")
        case .declaredPageCount: own("declared_page_count", .integer(Bounds.declaredPageCount), of: [.storyStarted],
            in: .own(Bits(10, 10)), "Number of pages that its payload declares, including invalid ones")
        case .loops: own("loops", .boolean, of: [.storyStarted], in: .own(Bits(20, 2)),
            "Whether the story starts again at its end")
        case .pageIndex: own("page_index", .integer(Bounds.pageIndex), of: [.storyPageShown, .storyActionTapped],
            in: .own(Bits(0, 10)), required: true, "Index of the page among those shown, from 0")
        case .declaredMS: own("declared_ms", .count, of: [.storyPageShown], in: .amount(1),
            "Milliseconds for which the page should be shown, according to the payload")
        case .cause: own("cause", .code(PageCause.self), of: [.storyPageShown], in: .own(Bits(10, 4)),
            "What turned to the page: initial, auto, next, prev or loop",
            wire: "What turned to this page")
        case .linkScheme: own("link_scheme", .string(.linkScheme), of: [.storyActionTapped], in: .word(1),
            "Scheme of the link behind the page's button")
        case .linkHost: own("link_host", .string(.linkHost), of: [.storyActionTapped], in: .word(2),
            "Host of the link behind the page's button")
        case .reason: own("reason", .code(FallbackReason.self), of: [.storyFallbackShown], in: .own(Bits(0, 4)),
            "Why the fallback was shown instead of pages: missing, malformed, no_valid_page or unknown",
            wire: "Why the fallback was shown instead of pages")

        case .newAuthorization: own("authorization", .code(Authorization.self), of: [.permissionChanged],
            in: .own(Bits(0, 4)), required: true, "What the user allows from now on; values as in source.authorization")
        case .previous: own("previous", .code(Authorization.self), of: [.permissionChanged], in: .own(Bits(4, 4)),
            "What the user allowed before; values as in authorization")

        case .goal: own("goal", .identifier(.goal), of: [.goalReached], in: .word(1), required: true,
            "Which goal was reached: the app's own word, such as purchase")
        case .goalValue: own("value", .decimal(whole: Bounds.goalValue), of: [.goalReached], in: .amount(1),
            "What it was worth, with six decimals",
            wire: "What it was worth: a number, or its decimal text. "
                + "Six decimals are kept exactly, further ones are rounded (a half to the even neighbour)")
        case .currency: own("currency", .letters(3), of: [.goalReached], in: .own(Bits(0, 15)),
            "Currency of the value: three letters from A to Z")
        }
    }
}

extension Member {
    private typealias Bits = Declaration.Bits

    /// A member of every event, or of events of these types.
    private func event(
        _ key: StaticString, _ kind: Declaration.Kind, in storage: Declaration.Storage, of types: EventTypes = .all,
        required: Bool = false, _ comment: String, wire: String? = nil
    ) -> Declaration {
        let name = if case .column(let column) = storage { column } else { "\(key)" }
        return declare(.event, key, kind, types, storage, name, required, comment, wire)
    }

    private func source(
        _ key: StaticString, _ kind: Declaration.Kind, in storage: Declaration.Storage = .device,
        required: Bool = false, _ comment: String, wire: String? = nil
    ) -> Declaration {
        declare(.source, key, kind, .all, storage, "\(key)", required, comment, wire)
    }

    private func setting(_ key: StaticString, _ comment: String) -> Declaration {
        declare(
            .settings, key, .code(Setting.self), .all, .device, "setting_\(key)", false,
            "\(comment): on, off or unsupported", comment)
    }

    private func notification(
        _ key: StaticString, _ kind: Declaration.Kind, in storage: Declaration.Storage = .context,
        column: String? = nil, _ comment: String, wire: String? = nil
    ) -> Declaration {
        let types = EventTypes(where: \.mayHaveNotification)
        return declare(.notification, key, kind, types, storage, column ?? "\(key)", false, comment, wire)
    }

    private func media(
        _ key: StaticString, _ kind: Declaration.Kind, in storage: Declaration.Storage, _ comment: String,
        wire: String? = nil
    ) -> Declaration {
        declare(.media, key, kind, EventTypes(.notificationReceived), storage, "media_\(key)", false, comment, wire)
    }

    /// A member that only these types have.
    private func own(
        _ key: StaticString, _ kind: Declaration.Kind, of types: [EventType], in storage: Declaration.Storage,
        column: String? = nil, required: Bool = false, _ comment: String, wire: String? = nil
    ) -> Declaration {
        let types = types.reduce(into: EventTypes()) { $0.formUnion(EventTypes($1)) }
        return declare(.event, key, kind, types, storage, column ?? "\(key)", required, comment, wire)
    }

    private func declare(
        _ object: Declaration.Object, _ key: StaticString, _ kind: Declaration.Kind, _ types: EventTypes,
        _ storage: Declaration.Storage, _ column: String, _ required: Bool, _ comment: String, _ wire: String?
    ) -> Declaration {
        let hasColumn = if case .object = kind { false } else { true }
        return Declaration(
            object: object, key: key, types: types, isRequired: required, kind: kind, storage: storage,
            column: hasColumn ? column : nil, comment: comment, wireComment: wire)
    }
}

extension Member {
    /// Its path in an event, such as `notification.category`.
    package var path: String {
        let (object, key) = (declaration.object, declaration.key)
        return switch object {
        case .event: "\(key)"
        case .settings: "source.settings.\(key)"
        default: "\(object.rawValue).\(key)"
        }
    }

    /// The members of an object, in order.
    package static func members(of object: Declaration.Object) -> [Member] {
        allCases.filter { $0.declaration.object == object }
    }
}
