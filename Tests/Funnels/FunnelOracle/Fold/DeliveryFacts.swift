internal import Telemetry
package import Values

internal import struct Foundation.TimeZone

/// What the events of one delivery say together: the fold of the contract's section 4, in its order and words.
///
/// Decided where the contract is silent:
/// - *First non-null attribute*: each attribute for itself, so category and campaign may come from different events.
/// - *Silent deliveries*: "all that follows is about the others", so every flag after `silent` is false for them, and
///   there is no story exit and no page. So the sum of a flag over all deliveries is the funnel's column. Their day,
///   attributes, media and times are those of their events.
/// - *A receipt without `via`*, or with one that this version does not know, does not make a push silent.
/// - *`media_attached`* asks all events: a delivery whose first outcome is `failed` and whose second is `attached` has
///   it, while `media` (and the media funnel) keeps `failed`.
/// - *A media outcome `none`* is an outcome: the delivery has a row in the media funnel.
/// - *`expanded`* comes of any `story.*` event, `story.fallback_shown` too. A button tapped in the content extension
///   (`handled_in`) does not make it.
/// - *`suppressed`* needs at least one foreground receipt; one without any `presentation` is none that gives it.
///   Receipts through other doors do not matter.
/// - *`answered_at`* is the earliest `occurred_at` of an opening, a dismissal, a tap of a button or of a story's call
///   to action; a silent delivery has none.
/// - *`received_at` and `opened_at`, `first_response`*: of the first such event in event order, for a silent delivery
///   too, which can have a receipt alone. Null, as are the attributes from locale to launch, where no event says it.
/// - *First and last times* are the least and the greatest of each clock by itself, not those of the first and the last
///   event: a device's clock may run against event order.
/// - *The limit of 1,000 story events* does not reach the facts; see `StoryPageFunnel`.
package struct DeliveryFacts: Hashable, Sendable {
    package let day: CivilDate
    package let category: Label
    package let campaign: Label
    package let variant: Label
    package let thread: Label
    package let origin: Label
    package let platform: Label
    package let appVersion: Label
    package let locale: Label?
    package let osVersion: Label?
    package let deviceModel: Label?
    package let authorization: Label?
    package let reach: Label?
    package let interruptionLevel: Label?
    package let topic: Label?
    package let analyticsLabel: Label?
    package let launch: Label?
    package let receivedAt: Timestamp?
    package let openedAt: Timestamp?
    /// From the sending to the earliest receipt by the service extension, in microseconds, as far as the events say;
    /// nil for a silent delivery, too.
    package let sendDelay: Int64?
    package let firstResponseAt: Timestamp?
    package let firstResponse: Label?
    /// Of the first event with a `media.outcome`.
    package let media: MediaFacts?
    /// The greatest `summary_argument_count`, 1 where none.
    package let items: Int64
    package let firstOccurredAt: Timestamp
    package let lastOccurredAt: Timestamp
    package let firstDeviceAt: Timestamp
    package let lastDeviceAt: Timestamp

    package let silent: Bool
    package let received: Bool
    package let expanded: Bool
    package let opened: Bool
    package let dismissed: Bool
    package let actionTapped: Bool
    package let storyActionTapped: Bool
    package let mediaAttached: Bool
    package let responded: Bool
    /// The action that each of its responses is a tap of; nil where there is none, or another response.
    package let soleAction: Label?
    package let receivedResponded: Bool
    package let unanswered: Bool
    package let suppressed: Bool
    /// Nil where nobody did anything that ends its waiting.
    package let answeredAt: Timestamp?
    /// Nil for a delivery without any `story.*` event.
    package let story: StoryFacts?

    /// Folds the events of one delivery, at least one, in event order.
    init(of events: [Event], timeZone: TimeZone) {
        day = events[0].occurredAt.day(in: timeZone)
        func known(_ attribute: (Event) -> String?) -> Label? { events.compactMap(attribute).first.map { Label($0) } }
        func first(_ attribute: (Event) -> String?) -> Label { known(attribute) ?? .empty }
        category = first { $0.notification.category }
        campaign = first { $0.notification.campaign }
        variant = first { $0.notification.variant }
        thread = first { $0.notification.thread }
        origin = first { $0.notification.origin?.wire }
        platform = first { $0.source.platform }
        appVersion = first { $0.source.appVersion }
        locale = known { $0.source.locale }
        osVersion = known { $0.source.osVersion }
        deviceModel = known { $0.source.deviceModel }
        authorization = known { $0.source.authorization?.wire }
        reach = known(\.reach)
        interruptionLevel = known { $0.notification.interruptionLevel }
        topic = known { $0.notification.topic }
        analyticsLabel = known { $0.notification.analyticsLabel }
        launch = known { $0.launch?.wire }
        receivedAt = events.first { $0.type == .notificationReceived }?.occurredAt
        openedAt = events.first { $0.type == .notificationOpened }?.occurredAt
        let response = events.first { $0.response != nil }
        firstResponseAt = response?.occurredAt
        firstResponse = response?.response.map { Label($0) }
        let outcomes = events.compactMap { $0.receipt?.media }.filter { $0.outcome != nil }
        media = outcomes.first.map { MediaFacts(of: $0) }
        items = events.compactMap { $0.receipt?.summaryArgumentCount }.max() ?? 1
        (firstOccurredAt, lastOccurredAt) = DeliveryFacts.span(of: events.map(\.occurredAt))
        (firstDeviceAt, lastDeviceAt) = DeliveryFacts.span(of: events.map(\.deviceAt))

        silent =
            events.allSatisfy { $0.receipt?.via == .background }
            && !events.contains { $0.notification.alert == true }
        let sentAt = events.compactMap(\.notification.sentAt).first
        let extensionAt = events.filter { $0.receipt?.via == .serviceExtension }.map(\.occurredAt).min()
        sendDelay = silent ? nil : extensionAt.flatMap { received in sentAt.map { received - $0 } }
        // All that follows is about the others.
        let events = silent ? [] : events
        func has(_ type: EventType) -> Bool { events.contains { $0.type == type } }
        received = has(.notificationReceived)
        opened = has(.notificationOpened)
        dismissed = has(.notificationDismissed)
        actionTapped = has(.actionTapped)
        storyActionTapped = has(.storyActionTapped)
        expanded = has(.notificationExpanded) || events.contains { $0.isStory }
        mediaAttached = !silent && outcomes.contains { $0.outcome == .attached || $0.outcome == .prefetched }
        responded = opened || actionTapped || storyActionTapped
        let actions = Set(events.compactMap { $0.actionTap.map { Label($0.actionID) } })
        soleAction = opened || storyActionTapped || actions.count != 1 ? nil : actions.first
        receivedResponded = received && responded
        unanswered = !silent && !responded && !dismissed
        let foreground = events.compactMap(\.receipt).filter { $0.via == .foreground }
        suppressed = unanswered && !foreground.isEmpty && foreground.allSatisfy { $0.isShownToNobody }
        let answers: Set<EventType> = [.notificationOpened, .notificationDismissed, .actionTapped, .storyActionTapped]
        answeredAt = events.filter { answers.contains($0.type) }.map(\.occurredAt).min()
        story = StoryFacts(of: events.filter { $0.isStory })
    }

    private static func span(of times: [Timestamp]) -> (Timestamp, Timestamp) {
        times.reduce((times[0], times[0])) { (min($0.0, $1), max($0.1, $1)) }
    }
}

/// What the first event with a media outcome says; `''` for what it leaves out.
package struct MediaFacts: Hashable, Sendable {
    package let kind: Label
    package let format: Label
    package let network: Label
    package let outcome: Label
    package let reason: Label
    /// Decided: a size counts up to 2 GiB, so that no sum of absurd ones overflows.
    package let bytes: Int64
    package let ms: Int64?

    init(of media: Media) {
        kind = media.kind.map { Label($0.wire) } ?? .empty
        network = media.network.map { Label($0.wire) } ?? .empty
        outcome = media.outcome.map { Label($0.wire) } ?? .empty
        format = media.format.map { Label($0) } ?? .empty
        reason = media.reason.map { Label($0.wire) } ?? .empty
        bytes = min(media.bytes ?? 0, Int64(Int32.max))
        ms = media.ms.map { Int64($0) }
    }
}
