internal import Telemetry

/// The parts of an event that the fold asks for; nil or false for an event of another type.
extension Event {
    var receipt: Receipt? {
        if case .received(let receipt) = interaction { receipt } else { nil }
    }

    var actionTap: ActionTap? {
        if case .actionTapped(let tap) = interaction { tap } else { nil }
    }

    /// How the app came up, of an opening or a tap of a button.
    var launch: Launch? {
        switch interaction {
        case .opened(let launch): launch
        case .actionTapped(let tap): tap.launch
        default: nil
        }
    }

    /// What kind of a response it is, in the contract's words.
    var response: String? {
        switch interaction {
        case .opened: "opened"
        case .actionTapped(let tap): tap.actionID
        case .storyActionTapped: "story_action"
        default: nil
        }
    }

    var pageCount: Int? {
        if case .storyStarted(let start) = interaction { Int(start.pageCount) } else { nil }
    }

    var pageShown: PageShown? {
        if case .pageShown(let page) = interaction { page } else { nil }
    }

    var shownPage: Int? { pageShown.map { Int($0.pageIndex) } }

    var clickedPage: Int? {
        if case .storyActionTapped(let tap) = interaction { Int(tap.pageIndex) } else { nil }
    }

    /// The page that it shows, or on which a button was tapped.
    var storyPage: Int? {
        switch interaction {
        case .pageShown(let page): Int(page.pageIndex)
        case .storyActionTapped(let tap): Int(tap.pageIndex)
        default: nil
        }
    }

    /// Whether it is one of the `story.*` events.
    var isStory: Bool {
        switch type {
        case .storyStarted, .storyPageShown, .storyActionTapped, .storyFinished, .storyFallbackShown: true
        default: false
        }
    }
}

extension Receipt {
    /// Whether it gives a `presentation` without banner, list or alert.
    var isShownToNobody: Bool {
        guard let presentation else { return false }
        return !presentation.contains { $0 == .banner || $0 == .list || $0 == .alert }
    }
}
