internal import Envelopes
internal import Telemetry

/// The ids of an event's words.
struct Names {
    var device: Int32?
    var context: Int32?
    var word1: Int32?
    var word2: Int32?
    /// The kinds of its words that were not learned, and count as the reserved word.
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
    // 0 means none: the dictionary counts from 1.
    private var ids = InlineArray<19, Int32>(repeating: 0)

    subscript(kind: WordKind) -> Int32 {
        get { ids[Int(kind.rawValue) - 1] }
        set { ids[Int(kind.rawValue) - 1] = newValue }
    }

    /// The words in the event's own row, which depend on the event's type.
    func own(of type: EventType) -> (Int32?, Int32?) {
        func word(_ kind: WordKind?) -> Int32? { kind.flatMap { self[$0] == 0 ? nil : self[$0] } }
        let (first, second) = EventRecord.ownWords(of: type)
        return (word(first), word(second))
    }

    /// Copies the other event's words about the device.
    mutating func copyDevice(of other: WordIDs) {
        for kind in SourceRecord.words { self[kind] = other[kind] }
    }

    /// Whether both have the same words about the context.
    func sharesContext(with other: WordIDs) -> Bool {
        for index in EventRecord.Slot.context where ids[index] != other.ids[index] { return false }
        return true
    }
}

/// A row of `log.device` or `log.context`, which many events share.
package struct Combination: Hashable {
    package enum Dictionary: String { case device, context }

    let dictionary: Dictionary
    let app: Int32
    /// In the order of the table's columns; 0 means none.
    let members: SIMD16<Int32>

    static let deviceWords = SourceRecord.words
    static let contextWords = EventRecord.contextWords

    /// Nil if the event says nothing about its device.
    init?(deviceOf source: SourceRecord, _ words: WordIDs, app: Int32) {
        self.init(.device, app, Combination.deviceWords, words, source.codes)
    }

    /// Nil if its notification has none of these words.
    init?(contextOf words: WordIDs, app: Int32) {
        self.init(.context, app, Combination.contextWords, words, SourceRecord.Codes(repeating: 0))
    }

    private init?(
        _ dictionary: Dictionary, _ app: Int32, _ kinds: [WordKind], _ words: WordIDs, _ codes: SourceRecord.Codes
    ) {
        var members = SIMD16<Int32>()
        for (index, kind) in kinds.enumerated() { members[index] = words[kind] }
        if dictionary == .device {
            for index in codes.indices { members[kinds.count + index] = codes[index] }
        }
        guard members != SIMD16() else { return nil }
        (self.dictionary, self.app, self.members) = (dictionary, app, members)
    }

    /// Its members as a JSON array, for the row of an event.
    var json: String {
        "[\((0..<Combination.width(of: dictionary)).map { "\(members[$0])" }.joined(separator: ","))]"
    }

    /// The columns of a dictionary, in order: words, and for devices the codes of the catalogue.
    package static func columns(of dictionary: Dictionary) -> [String] {
        let words = dictionary == .device ? deviceWords : contextWords
        return words.compactMap(\.member.declaration.column) + (dictionary == .device ? deviceCodes : [])
    }

    private static let deviceCodes = SourceRecord.codeMembers.compactMap(\.declaration.column)

    /// How many members a row of this dictionary has.
    static func width(of dictionary: Dictionary) -> Int { columns(of: dictionary).count }
}

extension DecodedEnvelope {
    /// Calls back with the text of every word that an event holds.
    func forEachWord(of index: Int, _ body: (WordKind, TextSlice) -> Void) {
        func tell(_ kind: WordKind?, _ word: TextSlice) {
            if let kind, !word.isEmpty { body(kind, word) }
        }
        let event = events[index]
        for (index, kind) in EventRecord.contextWords.enumerated() { tell(kind, event.texts[index]) }
        let source = sources[Int(event.source)]
        for (index, kind) in SourceRecord.words.enumerated() { tell(kind, source.texts[index]) }
        let (first, second) = EventRecord.ownWords(of: event.type)
        tell(first, event.texts[EventRecord.Slot.own.lowerBound])
        tell(second, event.texts[EventRecord.Slot.own.lowerBound + 1])
    }
}
