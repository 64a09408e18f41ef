internal import Telemetry

/// Decides which of a delivery's observations can still matter, whatever else arrives. It goes through them in event
/// order.
///
/// Merging only ever adds. So an attribute with an earlier value, a count with a greater one, and a fetch result with a
/// later one never matter again. Neither does the second observation of a yes/no fact.
struct Trimming {
    private(set) var surplusTaps: [Int32: DeliveryState.TapCount] = [:]

    private var attributes = Attributes()
    private var types: Set16 = []
    private var hasBrokenSilence = false
    private var presentations: Set16 = []
    private var hasMedia = false
    private var hasExtensionReceipt = false
    private var isSentKnown = false
    private var hasAttachedMedia = false
    private var storyEvents = 0
    private var taps = 0
    private let lastFetchResult: Int?
    private let mostItems: Int?
    private let furthestPage: Int?
    private let longestStart: Int?

    init(_ observations: [Observation]) {
        var lastFetchResult: Int?
        var mostItems: (index: Int, items: Int32)?
        var furthestPage: (index: Int, page: Int16)?
        var longestStart: (index: Int, pages: Int16)?
        for index in observations.indices {
            let observation = observations[index]
            if observation.fetchResult != 0 { lastFetchResult = index }
            if let items = observation.items, items > mostItems?.items ?? -1 { mostItems = (index, items) }
            guard let page = observation.page else { continue }
            if observation.type == .storyStarted {
                if page > longestStart?.pages ?? -1 { longestStart = (index, page) }
            } else if page > furthestPage?.page ?? -1 {
                furthestPage = (index, page)
            }
        }
        self.lastFetchResult = lastFetchResult
        self.mostItems = mostItems?.index
        self.furthestPage = furthestPage?.index
        self.longestStart = longestStart?.index
    }

    /// Whether to keep the observation at this index. Clears the parts of it that cannot matter.
    mutating func keeps(_ observation: inout Observation, at index: Int) -> Bool {
        observation.attributes.forget(attributes)
        attributes.complete(from: observation.attributes)
        if index != lastFetchResult { observation.fetchResult = 0 }
        if index != mostItems { observation.items = nil }
        trimMedia(of: &observation)
        if isSentKnown { observation.sentAt = nil }
        isSentKnown = isSentKnown || observation.sentAt != nil

        var isKept =
            observation.sentAt != nil || !observation.attributes.isEmpty || index == lastFetchResult
            || index == mostItems
        isKept = isKept || index == furthestPage || index == longestStart || observation.media != MediaFacts()
        if types.insert(Int(observation.type.rawValue)) { isKept = true }
        if observation.type == .notificationReceived, observation.via == Via.serviceExtension.rawValue,
            !hasExtensionReceipt
        {
            hasExtensionReceipt = true
            isKept = true
        }
        if observation.breaksSilence, !hasBrokenSilence {
            hasBrokenSilence = true
            isKept = true
        }
        if let presentation = observation.foregroundPresentation, presentations.insert(Int(presentation.rawValue)) {
            isKept = true
        }
        if observation.type.isStory {
            storyEvents += 1
            if storyEvents <= DeliveryState.mostStoryEvents { return true }
            // What turned the page matters only for counted events.
            observation.cause = 0
            observation.declared = nil
        } else if observation.type == .actionTapped {
            taps += 1
            if taps <= DeliveryState.mostTaps { return true }
            count(observation)
            // It is kept only for what it says apart from the tap.
            observation.action = 0
            observation.isForegroundTap = false
        }
        return isKept
    }

    /// The delivery has the first outcome. A later one matters only if it is the first with an attachment that could be
    /// seen, and nothing else of it does.
    private mutating func trimMedia(of observation: inout Observation) {
        guard observation.media.outcome != 0 else {
            observation.media = MediaFacts()
            return
        }
        let isAttached = observation.media.isAttached
        if hasMedia {
            let outcome = observation.media.outcome
            observation.media = MediaFacts()
            if isAttached, !hasAttachedMedia { observation.media.outcome = outcome }
        }
        hasMedia = true
        hasAttachedMedia = hasAttachedMedia || isAttached
    }

    private mutating func count(_ tap: Observation) {
        // A tap without an action was counted before, and is kept only for what else it says.
        guard tap.action != 0 else { return }
        let count = DeliveryState.TapCount(taps: 1, foreground: tap.isForegroundTap ? 1 : 0)
        surplusTaps[tap.action] = surplusTaps[tap.action].map { $0 + count } ?? count
    }
}

extension Observation {
    /// Whether the delivery is not silent: every event but the receipt of a silent push.
    var breaksSilence: Bool { type != .notificationReceived || via != Via.background.rawValue || alert }

    /// How a foreground receipt presented the notification; nil for any other event.
    var foregroundPresentation: Presentation? {
        guard type == .notificationReceived, via == Via.foreground.rawValue else { return nil }
        // A missing list counts as shown: only a list without banner, list and alert means nobody saw it.
        return presentation == .toNobody ? .toNobody : .toSomebody
    }
}

/// A few small numbers.
private struct Set16: ExpressibleByArrayLiteral {
    private var bits: UInt16 = 0

    init(arrayLiteral numbers: Int...) { for number in numbers { _ = insert(number) } }

    /// Returns whether the number is new.
    mutating func insert(_ number: Int) -> Bool {
        let bit: UInt16 = 1 << UInt16(number)
        defer { bits |= bit }
        return bits & bit == 0
    }
}
