/// How the system shows the app's notifications, as its user has set it; nil for what the client does not say.
package struct Settings: Hashable, Sendable {
    package var alerts: Setting?
    package var lockScreen: Setting?
    package var notificationCenter: Setting?
    package var sounds: Setting?
    package var badges: Setting?
    package var timeSensitive: Setting?
    package var scheduledSummary: Setting?

    package init() {}

    /// In the order of the catalogue.
    package static let all: [any WritableKeyPath<Settings, Setting?> & Sendable] = [
        \.alerts, \.lockScreen, \.notificationCenter, \.sounds, \.badges, \.timeSensitive, \.scheduledSummary,
    ]
}

/// The state of one setting.
package enum Setting: Int16, WireEnum {
    case on = 1
    case off
    case unsupported

    package var wire: String {
        switch self {
        case .on: "on"
        case .off: "off"
        case .unsupported: "unsupported"
        }
    }
}

/// How much of what is sent to an install people can notice. The codes are frozen: stored deliveries and days of
/// installs hold them.
package enum Reach: Int16, WireEnum {
    case prominent = 1
    case quiet
    case none

    package var wire: String {
        switch self {
        case .prominent: "prominent"
        case .quiet: "quiet"
        case .none: "none"
        }
    }

    /// Nil if the authorization is not known.
    package init?(_ authorization: Authorization?, _ settings: Settings) {
        switch authorization {
        case nil: return nil
        case .denied, .notDetermined: self = .none
        case .provisional: self = .quiet
        case .authorized, .ephemeral:
            let isHidden = settings.alerts == .off && settings.lockScreen == .off
            self = isHidden || settings.scheduledSummary == .on ? .quiet : .prominent
        }
    }
}
