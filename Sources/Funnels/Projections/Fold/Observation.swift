package import Telemetry
package import Values

/// What the fold needs from one event: its place in event order, and what it says about its delivery.
///
/// Words are ids in the log's dictionary, and enumerated members are codes; 0 means "does not say".
package struct Observation: Hashable, Sendable {
    package var moment: Moment
    package var type: EventType
    package var attributes = Attributes()
    /// Whether the payload has anything to show.
    package var alert = false
    package var via: Int16 = 0
    package var presentation = Presentation.unsaid
    package var fetchResult: Int16 = 0
    package var media = MediaFacts()
    /// When the notification was sent, as the event says; nil if it does not.
    package var sentAt: Timestamp?
    /// `summary_argument_count`; nil if the event has none, since 0 is a count.
    package var items: Int32?
    package var action: Int32 = 0
    package var isForegroundTap = false
    /// The page shown or tapped, or the page count of a start; nil for other types.
    package var page: Int16?
    /// Why the page was shown.
    package var cause: Int16 = 0
    /// For how many milliseconds the page should be shown, up to `longestDeclared`; nil if the event does not say,
    /// since 0 is a duration.
    package var declared: Int32?

    /// No dwell is this long, so a page that declares more never turns by itself in time.
    package static let longestDeclared: Int64 = 100_000

    package init(at moment: Moment, _ type: EventType) {
        self.moment = moment
        self.type = type
    }

    /// Whether a foreground receipt showed the notification to anybody.
    package enum Presentation: UInt8, Sendable {
        case unsaid, toSomebody, toNobody
    }
}

/// A place in event order: (`occurred_at`, `seq` or 0, id). The device's time distinguishes two events with one id.
package struct Moment: Hashable, Comparable, Sendable {
    package var occurredAt: Timestamp
    package var seq: Int64
    package var id: UUID
    package var deviceAt: Timestamp

    package init(occurredAt: Timestamp, seq: Int64 = 0, id: UUID, deviceAt: Timestamp) {
        self.occurredAt = occurredAt
        self.seq = seq
        self.id = id
        self.deviceAt = deviceAt
    }

    package static func < (left: Moment, right: Moment) -> Bool {
        if left.occurredAt != right.occurredAt { return left.occurredAt < right.occurredAt }
        if left.seq != right.seq { return left.seq < right.seq }
        if left.id != right.id { return left.id < right.id }
        return left.deviceAt < right.deviceAt
    }
}

/// The attributes whose first value in event order counts for the delivery.
package struct Attributes: Hashable, Sendable {
    package var category: Int32 = 0
    package var campaign: Int32 = 0
    package var variant: Int32 = 0
    package var thread: Int32 = 0
    package var platform: Int32 = 0
    package var appVersion: Int32 = 0
    package var osVersion: Int32 = 0
    package var deviceModel: Int32 = 0
    package var locale: Int32 = 0
    package var interruptionLevel: Int32 = 0
    package var topic: Int32 = 0
    package var analyticsLabel: Int32 = 0
    package var origin: Int16 = 0
    package var authorization: Int16 = 0
    package var reach: Int16 = 0
    package var launch: Int16 = 0

    package init() {}

    package var isEmpty: Bool { self == Attributes() }

    /// Copies each attribute that is missing here.
    package mutating func complete(from other: Attributes) {
        if category == 0 { category = other.category }
        if campaign == 0 { campaign = other.campaign }
        if variant == 0 { variant = other.variant }
        if thread == 0 { thread = other.thread }
        if platform == 0 { platform = other.platform }
        if appVersion == 0 { appVersion = other.appVersion }
        if osVersion == 0 { osVersion = other.osVersion }
        if deviceModel == 0 { deviceModel = other.deviceModel }
        if locale == 0 { locale = other.locale }
        if interruptionLevel == 0 { interruptionLevel = other.interruptionLevel }
        if topic == 0 { topic = other.topic }
        if analyticsLabel == 0 { analyticsLabel = other.analyticsLabel }
        if origin == 0 { origin = other.origin }
        if authorization == 0 { authorization = other.authorization }
        if reach == 0 { reach = other.reach }
        if launch == 0 { launch = other.launch }
    }

    /// Clears each attribute that is set there.
    package mutating func forget(_ known: Attributes) {
        if known.category != 0 { category = 0 }
        if known.campaign != 0 { campaign = 0 }
        if known.variant != 0 { variant = 0 }
        if known.thread != 0 { thread = 0 }
        if known.platform != 0 { platform = 0 }
        if known.appVersion != 0 { appVersion = 0 }
        if known.osVersion != 0 { osVersion = 0 }
        if known.deviceModel != 0 { deviceModel = 0 }
        if known.locale != 0 { locale = 0 }
        if known.interruptionLevel != 0 { interruptionLevel = 0 }
        if known.topic != 0 { topic = 0 }
        if known.analyticsLabel != 0 { analyticsLabel = 0 }
        if known.origin != 0 { origin = 0 }
        if known.authorization != 0 { authorization = 0 }
        if known.reach != 0 { reach = 0 }
        if known.launch != 0 { launch = 0 }
    }
}

/// What an event says about a media attachment.
package struct MediaFacts: Hashable, Sendable {
    package var kind: Int16 = 0
    package var network: Int16 = 0
    package var outcome: Int16 = 0
    package var reason: Int16 = 0
    package var format: Int32 = 0
    /// 0 stands for none, too: the sum is the same. Sizes are clamped to 2 GiB, so that absurd ones add up to no
    /// overflow.
    package var bytes: Int32 = 0
    /// How long the download took in milliseconds; nil if the event does not say, since 0 is a time.
    package var milliseconds: Int32?

    package init() {}

    /// Whether the attachment could be seen.
    package var isAttached: Bool {
        outcome == MediaOutcome.attached.rawValue || outcome == MediaOutcome.prefetched.rawValue
    }
}

extension EventType {
    /// Whether it is one of the `story.*` events.
    package var isStory: Bool {
        switch self {
        case .storyStarted, .storyPageShown, .storyActionTapped, .storyFinished, .storyFallbackShown: true
        default: false
        }
    }

    /// Whether it is an answer: somebody did something with the notification, which then no longer waits.
    package var isAnswer: Bool {
        switch self {
        case .notificationOpened, .notificationDismissed, .actionTapped, .storyActionTapped: true
        default: false
        }
    }
}
