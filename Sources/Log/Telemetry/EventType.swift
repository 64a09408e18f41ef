/// What happened, in the order of the catalogue. The codes are frozen: stored events hold them.
package enum EventType: Int16, WireEnum {
    case notificationReceived = 1
    case notificationExpanded
    case notificationOpened
    case notificationDismissed
    case actionTapped
    case storyStarted
    case storyPageShown
    case storyActionTapped
    case storyFinished
    case storyFallbackShown
    case permissionChanged
    case goalReached
    case settingsChanged

    /// The name in the catalogue, as in the member `type`.
    package var name: String {
        switch self {
        case .notificationReceived: "notification.received"
        case .notificationExpanded: "notification.expanded"
        case .notificationOpened: "notification.opened"
        case .notificationDismissed: "notification.dismissed"
        case .actionTapped: "action.tapped"
        case .storyStarted: "story.started"
        case .storyPageShown: "story.page_shown"
        case .storyActionTapped: "story.action_tapped"
        case .storyFinished: "story.finished"
        case .storyFallbackShown: "story.fallback_shown"
        case .permissionChanged: "permission.changed"
        case .goalReached: "goal.reached"
        case .settingsChanged: "settings.changed"
        }
    }

    package var wire: String { name }

    /// What happened, for the documents.
    package var comment: String {
        switch self {
        case .notificationReceived: "A notification reached the app. One delivery may have several receipts"
        case .notificationExpanded: "The content extension was shown"
        case .notificationOpened: "The user tapped the notification itself (the default action)"
        case .notificationDismissed: "The user dismissed it. iOS reports this only for categories that ask for it"
        case .actionTapped: "The user tapped one of the notification's buttons. Text that they type is never sent"
        case .storyStarted: "A story began to play"
        case .storyPageShown: "A page of a story was shown"
        case .storyActionTapped:
            "The user tapped a page's call-to-action button. A tap on the page itself only turns the page"
        case .storyFinished: "The story played to its end"
        case .storyFallbackShown: "The story could not be played, and something else was shown"
        case .permissionChanged:
            "The user changed what the app may show. This concerns the install, not a notification"
        case .goalReached:
            "The user did what the app is for, such as buying something. This concerns the install; "
                + "if it carries a notification, it is that one's success"
        case .settingsChanged:
            "The user changed how the system shows the app's notifications, as `source.settings` now says. "
                + "This concerns the install, not a notification"
        }
    }
}

extension EventType {
    /// Whether it is about the install, so that it needs no notification.
    package var isAboutInstall: Bool {
        switch self {
        case .permissionChanged, .goalReached, .settingsChanged: true
        default: false
        }
    }

    /// Whether an event with a notification belongs to the fold of that notification's delivery.
    package var isOfDelivery: Bool { !isAboutInstall }

    /// Whether the catalogue gives it a notification, required or not.
    var mayHaveNotification: Bool { !isAboutInstall || self == .goalReached }
}
