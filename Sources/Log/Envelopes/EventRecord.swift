package import Telemetry
package import Values

/// The place of a text among the texts of its envelope. An empty one means none: an empty string counts as absent.
package struct TextSlice: Equatable, Sendable, BitwiseCopyable {
    package let start: UInt32
    package let count: UInt32

    package static let none = TextSlice(start: 0, count: 0)

    package init(start: Int, count: Int) {
        self.start = UInt32(truncatingIfNeeded: start)
        self.count = UInt32(truncatingIfNeeded: count)
    }

    package var isEmpty: Bool { count == 0 }

    package var range: Range<Int> { Int(start)..<Int(start) + Int(count) }
}

/// One event as its row needs it: numbers, and slices of the texts of its envelope. It has no references, so copying it
/// is cheap. The catalogue says what each bit means.
package struct EventRecord: Sendable, BitwiseCopyable {
    package var id = UUID(high: 0, low: 0)
    /// The device's clock, raw.
    package var deviceAt = Timestamp(microseconds: 0)
    /// When it happened, as far as we know. Every number is computed from this.
    package var occurredAt = Timestamp(microseconds: 0)
    package var receivedAt = Timestamp(microseconds: 0)
    package var notificationSentAt: Timestamp?
    /// The index of its source among the envelope's sources.
    package var source: Int32 = 0
    /// The bits that all types share, without those that only the log can set.
    package var codes: Int32 = 0
    /// The bits of its type.
    package var own: Int32 = 0
    package var seq: Int32?
    package var amounts = InlineArray<2, Int32?>(repeating: nil)
    package var texts = InlineArray<12, TextSlice>(repeating: .none)
    /// The text that, with app and install, names the delivery; none for an event about the install itself.
    package var key = TextSlice.none
    /// The part of an FCM message id after `0:KEY%`, as pairs of hexadecimal digits.
    package var suffix = TextSlice.none
    /// Rare members, as members of a JSON object with commas between them.
    package var rare = TextSlice.none
    /// What no column holds, as a JSON object for `jsonb`.
    package var extra = TextSlice.none

    package init() {}

    package var type: EventType {
        get { EventType(rawValue: Int16(truncatingIfNeeded: codes >> 10 & 31)) ?? .notificationReceived }
        set { codes = codes & ~(31 << 10) | Int32(newValue.rawValue) << 10 }
    }

    package var timeSource: TimeSource {
        get { TimeSource(rawValue: Int16(truncatingIfNeeded: codes >> 15 & 3)) ?? .device }
        set { codes = codes & ~(3 << 15) | Int32(newValue.rawValue) << 15 }
    }

    /// Which of the notification's ids became its key.
    package var keySource: KeySource? {
        get { KeySource(rawValue: codes >> 17 & 3) }
        set { codes = codes & ~(3 << 17) | (newValue?.rawValue ?? 0) << 17 }
    }
}

extension EventRecord {
    /// Where the texts of an event are among `texts`: the words of its context, its own words, its notification's ids.
    package enum Slot {
        /// In the order of `contextWords`.
        package static let context = 0..<7
        /// In the order of `ownWords(of:)`.
        package static let own = 7..<9
        package static let fcmMessageID = 9
        package static let deliveryID = 10
        package static let notificationID = 11
    }

    /// The words in the columns of `log.context`, in order.
    package static let contextWords: [WordKind] = [
        .category, .thread, .campaign, .variant, .analyticsLabel, .topic, .interruptionLevel,
    ]

    /// The words in an event's own row, by its type.
    package static func ownWords(of type: EventType) -> (WordKind?, WordKind?) {
        switch type {
        case .notificationReceived: (.mediaFormat, nil)
        case .actionTapped: (.actionID, nil)
        case .storyActionTapped: (.linkScheme, .linkHost)
        case .goalReached: (.goal, nil)
        default: (nil, nil)
        }
    }
}

/// Which of a notification's three ids became its key. The codes are frozen: stored events hold them.
package enum KeySource: Int32, Sendable {
    case fcmMessageID = 1
    case deliveryID
    case notificationID
}

/// An install and what it runs on, for all events of an envelope that say nothing else.
package struct SourceRecord: Sendable, BitwiseCopyable {
    package var install = UUID(high: 0, low: 0)
    /// In the order of `words`.
    package var texts = InlineArray<7, TextSlice>(repeating: .none)
    /// The catalogue's codes, in the order of `codeMembers`; 0 is none.
    package var codes = Codes(repeating: 0)
    /// The Firebase installation id.
    package var fid = TextSlice.none

    package typealias Codes = InlineArray<9, Int32>

    package init() {}

    /// The members whose codes are columns of `log.device`, in order, after the words.
    package static let codeMembers = Member.allCases.filter { member in
        if case (.device, .code) = (member.declaration.storage, member.declaration.kind) { true } else { false }
    }

    /// The words in the columns of `log.device`, in order, before the codes.
    package static let words: [WordKind] = [.platform, .appVersion, .osVersion, .sdk, .deviceModel, .locale, .timeZone]
}
