extension Bellwether {
    /// What notifications may do, as the person set it in the system's settings.
    public struct Settings: Sendable, Hashable, Codable {
        /// How one of them is set.
        public enum Setting: String, Sendable, Codable {
            /// It may.
            case on
            /// It may not.
            case off
            /// The device or the app does not have it.
            case unsupported
        }

        /// Banners and alerts.
        public var alerts: Setting?
        /// Notifications on the locked screen.
        public var lockScreen: Setting?
        /// Notifications in the notification centre.
        public var notificationCenter: Setting?
        /// Their sounds.
        public var sounds: Setting?
        /// Numbers on the app's icon.
        public var badges: Setting?
        /// Breaking through Focus.
        public var timeSensitive: Setting?
        /// Waiting for the scheduled summary instead of showing at once.
        public var scheduledSummary: Setting?

        /// Creates settings of which nothing is known.
        public init() {}
    }
}

extension Bellwether.Settings.Setting {
    /// Takes the raw value of the system's setting; nil for one that is not known.
    init?(setting: Int) {
        switch setting {
        case 0: self = .unsupported
        case 1: self = .off
        case 2: self = .on
        default: return nil
        }
    }
}

extension Bellwether.Settings {
    /// The member `settings` of a source; nil if nothing is known.
    var value: JSONValue? {
        var fields: [JSONValue.Field] = []
        fields.add("alerts", alerts?.rawValue)
        fields.add("lock_screen", lockScreen?.rawValue)
        fields.add("notification_center", notificationCenter?.rawValue)
        fields.add("sounds", sounds?.rawValue)
        fields.add("badges", badges?.rawValue)
        fields.add("time_sensitive", timeSensitive?.rawValue)
        fields.add("scheduled_summary", scheduledSummary?.rawValue)
        return fields.isEmpty ? nil : .object(fields)
    }
}
