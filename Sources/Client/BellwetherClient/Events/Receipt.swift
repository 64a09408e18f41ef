extension Bellwether {
    /// How the app came to know that a notification had arrived.
    public enum Receipt: Sendable, Hashable {
        /// The service extension received it; `media` says what became of its media.
        case serviceExtension(media: Media? = nil)
        /// It came while the app was in front, and the app had it shown in this way. An empty set means that nobody saw
        /// it.
        case foreground(presentation: Set<Presentation>)
        /// It woke the app, which fetched something. Recorded only if the payload has `content-available`: for other
        /// payloads, the system makes that call when somebody taps.
        case background(FetchResult?)
    }

    /// A way of showing a notification while the app is in front.
    public enum Presentation: String, Sendable, CaseIterable {
        /// As a banner.
        case banner
        /// In the notification centre.
        case list
        /// As an alert, in versions of the system before banner and list.
        case alert
        /// With its sound.
        case sound
        /// With its number on the icon.
        case badge
    }

    /// What the app fetched after a silent push.
    public enum FetchResult: String, Sendable {
        /// There was something new.
        case newData = "new_data"
        /// There was nothing new.
        case noData = "no_data"
        /// Fetching failed.
        case failed
    }
}

extension Bellwether.Receipt {
    /// The members of an event that describe the receipt.
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

/// Converts the system's values by their documented numbers. It is kept here so that tests can run without the system.
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
    /// The result for a `UIBackgroundFetchResult`; nil for a value that is not known yet.
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
    /// Who made a notification. A local one that was due at once may have no trigger; then it is a push only if the
    /// payload has an `aps`.
    init(isPushTrigger: Bool, hasTrigger: Bool, payload: [AnyHashable: Any]) {
        self = isPushTrigger || !hasTrigger && payload["aps"] != nil ? .remote : .local
    }
}
