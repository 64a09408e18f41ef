/// What happened, with the members that only this type of event has. One case for each type of the catalogue.
package enum Interaction: Hashable, Sendable {
    case received(Receipt)
    case expanded
    case opened(launch: Launch?)
    case dismissed
    case actionTapped(ActionTap)
    case storyStarted(StoryStart)
    case pageShown(PageShown)
    case storyActionTapped(StoryActionTap)
    case storyFinished
    case fallbackShown(reason: FallbackReason?)
    /// About the install, so it belongs to no delivery.
    case permissionChanged(to: Authorization?, from: Authorization?)
    case goalReached(Goal)
    /// About the install: its source has the settings.
    case settingsChanged

    package var type: EventType {
        switch self {
        case .received: .notificationReceived
        case .expanded: .notificationExpanded
        case .opened: .notificationOpened
        case .dismissed: .notificationDismissed
        case .actionTapped: .actionTapped
        case .storyStarted: .storyStarted
        case .pageShown: .storyPageShown
        case .storyActionTapped: .storyActionTapped
        case .storyFinished: .storyFinished
        case .fallbackShown: .storyFallbackShown
        case .permissionChanged: .permissionChanged
        case .goalReached: .goalReached
        case .settingsChanged: .settingsChanged
        }
    }
}

/// The state of the app when the interaction reached it.
package enum Launch: Int16, WireEnum {
    case cold = 1
    case warm
    case foreground

    package var wire: String {
        switch self {
        case .cold: "cold"
        case .warm: "warm"
        case .foreground: "foreground"
        }
    }
}
