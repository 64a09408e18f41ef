internal import Telemetry

/// The numbers under which the log knows what an event says in words.
struct Names {
    var device: Int32?
    var context: Int32?
    /// For which the dictionary has no room: they stand in the event's own row.
    var looseDevice: Combination?
    var looseContext: Combination?
    var word1: Int32?
    var word2: Int32?
    /// The kinds of which it has a word that was not learned, and counts as the reserved one.
    var others = WordKinds()
}

/// Some kinds of words.
struct WordKinds: Hashable {
    private var bits: UInt32 = 0

    var isEmpty: Bool { bits == 0 }

    func contains(_ kind: WordKind) -> Bool { bits & 1 << UInt32(kind.rawValue) != 0 }

    mutating func insert(_ kind: WordKind) { bits |= 1 << UInt32(kind.rawValue) }
}

/// The words of one event as dictionary ids.
struct WordIDs {
    // 0 is no id: the dictionary counts from 1.
    private var ids = InlineArray<18, Int32>(repeating: 0)

    subscript(kind: WordKind) -> Int32 {
        get { ids[Int(kind.rawValue) - 1] }
        set { ids[Int(kind.rawValue) - 1] = newValue }
    }

    /// The words that stand in the event's own row, by the event's type.
    func own(of type: EventType) -> (Int32?, Int32?) {
        func word(_ kind: WordKind) -> Int32? { self[kind] == 0 ? nil : self[kind] }
        return switch type {
        case .notificationReceived: (word(.mediaFormat), nil)
        case .actionTapped: (word(.actionID), nil)
        case .storyActionTapped: (word(.linkScheme), word(.linkHost))
        default: (nil, nil)
        }
    }

    /// Takes over what the other one says of the device.
    mutating func copyDevice(of other: WordIDs) {
        for kind in Combination.deviceWords { self[kind] = other[kind] }
    }
}

/// A row of `log.device` or `log.context`: what many events say together.
struct Combination: Hashable {
    enum Dictionary: String { case device, context }

    let dictionary: Dictionary
    let app: Int32
    /// In the order of the table's columns; 0 is none.
    let members: SIMD16<Int32>

    static let deviceWords: [WordKind] = [.platform, .appVersion, .osVersion, .sdk, .deviceModel, .locale, .timeZone]
    static let contextWords: [WordKind] = [
        .category, .thread, .campaign, .variant, .analyticsLabel, .topic, .interruptionLevel,
    ]

    /// Nil where the event says nothing of its device.
    init?(deviceOf source: Source, _ words: WordIDs, app: Int32) {
        let codes = [Int32(source.authorization?.rawValue ?? 0), Int32(source.showPreviews?.rawValue ?? 0)]
        self.init(.device, app, Combination.deviceWords, words, codes)
    }

    /// Nil where its notification has none of these words.
    init?(contextOf words: WordIDs, app: Int32) {
        self.init(.context, app, Combination.contextWords, words, [])
    }

    private init?(_ dictionary: Dictionary, _ app: Int32, _ kinds: [WordKind], _ words: WordIDs, _ codes: [Int32]) {
        var members = SIMD16<Int32>()
        for (place, kind) in kinds.enumerated() { members[place] = words[kind] }
        for (place, code) in codes.enumerated() { members[kinds.count + place] = code }
        guard members != SIMD16() else { return nil }
        (self.dictionary, self.app, self.members) = (dictionary, app, members)
    }

    /// Its members as a JSON array, for the row of an event.
    var json: String {
        "[\((0..<Combination.width(of: dictionary)).map { "\(members[$0])" }.joined(separator: ","))]"
    }

    /// The columns of a dictionary, in order: words, and for devices the codes of the catalogue.
    static func columns(of dictionary: Dictionary) -> [String] {
        let words = dictionary == .device ? deviceWords : contextWords
        return words.compactMap(\.member.declaration.column) + (dictionary == .device ? deviceCodes : [])
    }

    private static let deviceCodes = Member.allCases.compactMap { member in
        if case (.device, .code) = (member.declaration.storage, member.declaration.kind) {
            member.declaration.column
        } else {
            String?.none
        }
    }

    /// How many members a row of this dictionary has.
    static func width(of dictionary: Dictionary) -> Int { columns(of: dictionary).count }
}

extension Event {
    /// Calls back with every word that this event holds; those of its device only if they are asked for.
    func forEachWord(withDevice: Bool, _ body: (WordKind, String) -> Void) {
        func tell(_ kind: WordKind, _ word: String?) {
            if let word { body(kind, word) }
        }
        tell(.category, notification.category)
        tell(.thread, notification.thread)
        tell(.campaign, notification.campaign)
        tell(.variant, notification.variant)
        tell(.analyticsLabel, notification.analyticsLabel)
        tell(.topic, notification.topic)
        tell(.interruptionLevel, notification.interruptionLevel)
        if withDevice {
            tell(.platform, source.platform)
            tell(.osVersion, source.osVersion)
            tell(.appVersion, source.appVersion)
            tell(.sdk, source.sdk)
            tell(.deviceModel, source.deviceModel)
            tell(.locale, source.locale)
            tell(.timeZone, source.timeZone)
        }
        switch interaction {
        case .actionTapped(let tap): tell(.actionID, tap.actionID)
        case .storyActionTapped(let tap):
            tell(.linkScheme, tap.linkScheme)
            tell(.linkHost, tap.linkHost)
        case .received(let receipt): tell(.mediaFormat, receipt.media?.format)
        default: break
        }
    }
}
