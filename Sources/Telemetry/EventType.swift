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

    /// The name of the catalogue, as in the member `type`.
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
        }
    }

    package var wire: String { name }
}
