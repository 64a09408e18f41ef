internal import Telemetry
package import Values

/// What the events of one delivery say together: the fold of section 4 of the contract, in the same order and terms.
package struct Facts: Hashable, Sendable {
    /// Each is the first value that any event gives, in event order.
    package private(set) var attributes = Attributes()
    /// Of the first event with an outcome.
    package private(set) var media = MediaFacts()
    /// The last in event order.
    package private(set) var fetchResult: Int16 = 0
    /// The greatest `summary_argument_count`; 1 if there is none.
    package private(set) var items: Int32 = 1
    package private(set) var flags: DeliveryFlags = []
    /// The times of the first receipt and of the first opening in event order.
    package private(set) var receivedAt: Timestamp?
    package private(set) var openedAt: Timestamp?
    /// The earliest receipt by the service extension, and when the sender sent the notification as the first event says
    /// that does.
    package private(set) var extensionAt: Timestamp?
    package private(set) var sentAt: Timestamp?
    /// The first opening or tap.
    package private(set) var firstResponse: Response?
    /// The time of the earliest opening, dismissal or tap; nil for a silent delivery, too.
    package private(set) var answeredAt: Timestamp?
    /// Nil for a delivery without any `story.*` event, and for a silent one.
    package private(set) var story: Story?

    /// The action that is the only response, whether it was tapped once or more often; nil if there is none.
    var soleAction: Int32? {
        guard flags.contains(.sole), case .action(let id) = firstResponse?.kind else { return nil }
        return id
    }

    /// What somebody did with the notification, and when.
    package struct Response: Hashable, Sendable {
        package let at: Timestamp
        package let kind: Kind

        package enum Kind: Hashable, Sendable {
            case opened
            /// A button, by the id of its word.
            case action(Int32)
            case storyAction
        }
    }

    /// How a story went.
    package struct Story: Hashable, Sendable {
        package let exit: StoryExit
        /// The highest page that was shown or tapped; nil if there was none.
        package let furthest: Int16?
        /// The greatest page count of its starts, or `furthest` + 1 if that is greater; 0 if no page is known.
        package let pages: Int16
    }

    package init(of state: DeliveryState) {
        let observations = state.observations
        var greatestItems: Int32?
        var types: DeliveryFlags = []
        var isSilent = true
        var isShownToSomebody = false
        var isShownToNobody = false
        var furthest: Int16?
        var pageCount: Int16 = 0
        var hasFallback = false
        var hasPage = false
        var onlyAction: Int32 = 0
        var hasSeveralActions = false
        for observation in observations {
            attributes.complete(from: observation.attributes)
            if media.outcome == 0, observation.media.outcome != 0 { media = observation.media }
            if observation.media.isAttached { types.insert(.mediaAttached) }
            sentAt = sentAt ?? observation.sentAt
            if observation.fetchResult != 0 { fetchResult = observation.fetchResult }
            if let items = observation.items { greatestItems = max(greatestItems ?? items, items) }
            if observation.breaksSilence { isSilent = false }
            switch observation.foregroundPresentation {
            case .toNobody: isShownToNobody = true
            case .toSomebody, .unsaid: isShownToSomebody = true
            case nil: break
            }
            if answeredAt == nil, observation.type.isAnswer { answeredAt = observation.moment.occurredAt }
            if let kind = observation.response, firstResponse == nil {
                firstResponse = Response(at: observation.moment.occurredAt, kind: kind)
            }
            switch observation.type {
            case .notificationReceived:
                types.insert(.received)
                receivedAt = receivedAt ?? observation.moment.occurredAt
                if observation.via == Via.serviceExtension.rawValue {
                    extensionAt = extensionAt ?? observation.moment.occurredAt
                }
            case .notificationExpanded: types.insert(.expanded)
            case .notificationOpened:
                types.insert(.opened)
                openedAt = openedAt ?? observation.moment.occurredAt
            case .notificationDismissed: types.insert(.dismissed)
            case .actionTapped:
                types.insert(.actionTapped)
                if onlyAction == 0 { onlyAction = observation.action }
                // A tap that was only counted has no action here.
                if observation.action != 0, observation.action != onlyAction { hasSeveralActions = true }
            case .storyStarted:
                types.insert([.storyStarted, .expanded])
                pageCount = max(pageCount, observation.page ?? 0)
            case .storyPageShown:
                types.insert(.expanded)
                hasPage = true
                furthest = max(furthest ?? -1, observation.page ?? 0)
            case .storyActionTapped:
                types.insert([.storyActionTapped, .expanded])
                furthest = max(furthest ?? -1, observation.page ?? 0)
            case .storyFinished: types.insert([.storyFinished, .expanded])
            case .storyFallbackShown:
                types.insert(.expanded)
                hasFallback = true
            default: break
            }
        }
        items = greatestItems ?? 1
        guard !isSilent else {
            // The silent funnel alone counts silent deliveries. All that follows is about the others.
            flags = .silent
            return
        }
        flags = types
        if flags.isDisjoint(with: [.opened, .storyActionTapped]), onlyAction != 0, !hasSeveralActions,
            state.surplusTaps.keys.allSatisfy({ $0 == onlyAction })
        {
            flags.insert(.sole)
        }
        if extensionAt != nil, sentAt == nil { flags.insert(.unsent) }
        if flags.isUnanswered, isShownToNobody, !isShownToSomebody { flags.insert(.suppressed) }
        guard observations.contains(where: { $0.type.isStory }) else { return }
        let exit: StoryExit =
            if flags.contains(.storyActionTapped) {
                .clicked
            } else if flags.contains(.storyFinished) {
                .finished
            } else if hasFallback, !flags.contains(.storyStarted), !hasPage {
                .fallback
            } else {
                .abandoned
            }
        story = Story(exit: exit, furthest: furthest, pages: max(pageCount, (furthest ?? -1) + 1))
    }
}

extension Observation {
    /// What kind of a response it is, if it is one.
    fileprivate var response: Facts.Response.Kind? {
        switch type {
        case .notificationOpened: .opened
        case .actionTapped: .action(action)
        case .storyActionTapped: .storyAction
        default: nil
        }
    }
}

/// How a story ended: the first of these four that applies. The codes are frozen: stored deliveries hold them.
package enum StoryExit: Int16, Sendable {
    case clicked = 1
    case finished
    case fallback
    case abandoned
}

/// The yes/no facts of a delivery. The bits are frozen: stored deliveries hold them.
package struct DeliveryFlags: OptionSet, Hashable, Sendable {
    package let rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let silent = DeliveryFlags(rawValue: 1)
    package static let received = DeliveryFlags(rawValue: 2)
    package static let expanded = DeliveryFlags(rawValue: 4)
    package static let opened = DeliveryFlags(rawValue: 8)
    package static let dismissed = DeliveryFlags(rawValue: 16)
    package static let actionTapped = DeliveryFlags(rawValue: 32)
    package static let storyActionTapped = DeliveryFlags(rawValue: 64)
    package static let mediaAttached = DeliveryFlags(rawValue: 128)
    package static let storyStarted = DeliveryFlags(rawValue: 256)
    package static let storyFinished = DeliveryFlags(rawValue: 512)
    package static let suppressed = DeliveryFlags(rawValue: 1024)
    /// Every response is a tap of one and the same action, which is then the first response.
    package static let sole = DeliveryFlags(rawValue: 2048)
    /// It has a receipt by the service extension, and no event says when it was sent.
    package static let unsent = DeliveryFlags(rawValue: 4096)

    package var isSilent: Bool { contains(.silent) }

    package var isResponded: Bool { !isDisjoint(with: [.opened, .actionTapped, .storyActionTapped]) }

    package var isUnanswered: Bool { !isSilent && !isResponded && !contains(.dismissed) }
}
