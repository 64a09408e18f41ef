extension Bellwether {
    /// How the app came to know that a notification had arrived.
    public enum Receipt: Sendable, Hashable {
        /// The service extension had it, and what became of its media.
        case serviceExtension(media: Media? = nil)
        /// It came while the app was in front, which had it shown like this; to nobody, if there are no options.
        case foreground(presentation: Set<Presentation>)
        /// It woke the app, which fetched something. Recorded only if the payload has `content-available`: for others
        /// that callback fires when somebody taps.
        case background(FetchResult?)
    }

    /// A way in which a notification is shown while the app is in front.
    public enum Presentation: String, Sendable, CaseIterable {
        case banner, list, alert, sound, badge
    }

    /// What a silent push led to.
    public enum FetchResult: String, Sendable {
        case newData = "new_data"
        case noData = "no_data"
        case failed
    }
}

extension Bellwether.Receipt {
    /// The members of an event that tell of it.
    var members: [JSONValue.Field] {
        var fields: [JSONValue.Field] = []
        switch self {
        case .serviceExtension(let media):
            fields.add("via", "service_extension")
            fields.add("media", media?.value)
        case .foreground(let presentation):
            fields.add("via", "foreground")
            let options = Bellwether.Presentation.allCases.filter(presentation.contains)
            fields.add("presentation", .list(options.map { .text($0.rawValue) }))
        case .background(let result):
            fields.add("via", "background")
            fields.add("fetch_result", result?.rawValue)
        }
        return fields
    }
}

/// What the system's own values mean, by their documented numbers: here, where they can be tried without the system.
extension Bellwether.Presentation {
    /// The ways in which a `UNNotificationPresentationOptions` shows a notification.
    static func set(rawValue: UInt) -> Set<Bellwether.Presentation> {
        let options: [(UInt, Bellwether.Presentation)] = [
            (1 << 0, .badge), (1 << 1, .sound), (1 << 2, .alert), (1 << 3, .list), (1 << 4, .banner),
        ]
        return Set(options.filter { rawValue & $0.0 != 0 }.map(\.1))
    }
}

extension Bellwether.FetchResult {
    /// The result that a `UIBackgroundFetchResult` is; nil for one that is not known yet.
    init?(rawValue: UInt) {
        switch rawValue {
        case 0: self = .newData
        case 1: self = .noData
        case 2: self = .failed
        default: return nil
        }
    }
}

extension Bellwether.Origin {
    /// Who made a notification. The request of a local one may have no trigger, when it was to come at once; then only a
    /// push has an `aps`.
    init(isPushTrigger: Bool, hasTrigger: Bool, payload: [AnyHashable: Any]) {
        self = isPushTrigger || !hasTrigger && payload["aps"] != nil ? .remote : .local
    }
}
