/// Everything that is declared about a member of an event. The decoder's tables, the columns and views of the log, the
/// OpenAPI document, the table in `Docs/API.md`, the fuzzer's words and the tests' values are all derived from it.
package struct Declaration: Sendable {
    /// The object that contains it.
    package let object: Object
    /// Its key there.
    package let key: StaticString
    /// The types of events that have it. For every other type it is an unknown member.
    package let types: EventTypes
    /// Whether an event of these types is rejected without it.
    package let isRequired: Bool
    package let kind: Kind
    package let storage: Storage
    /// The column of the event views; nil for an object, whose members have columns of their own.
    package let column: String?
    /// What the column and the documents say about it.
    package let comment: String
    /// What the documents say instead, if people who post events need to know something else than people who read them.
    package let wireComment: String?

    /// The objects of an event, the event itself among them.
    package enum Object: String, CaseIterable, Sendable { case event, notification, source, settings, media }

    /// What a value may be.
    package enum Kind: Sendable {
        case uuid
        /// One of the catalogue's types.
        case type
        case time
        case object(Object)
        /// A text of at most that many bytes.
        case text(Int)
        /// A text of at most that many bytes that the log's dictionary stores once.
        case word(WordKind, Int)
        /// One of these words. The log stores its position, from 1.
        case code([String])
        /// Some of these words. The log stores one bit for each.
        case codes([String])
        case boolean
        case integer(ClosedRange<Int64>)
        case number(ClosedRange<Double>)
        /// A number with exactly so many decimals: a number or its text, from 0 to below this many whole ones. The log
        /// stores its smallest units.
        case decimal(whole: Int64)
        /// So many letters from A to Z. The log stores five bits for each.
        case letters(Int)
    }

    /// Where the log stores it.
    package enum Storage: Sendable {
        /// Nowhere: it is an object.
        case none
        /// In its own column of `log.event`, as it is.
        case column(String)
        /// With or as the notification key; `log.opened_event` shows which.
        case key(String)
        /// In bits of `codes`, which all types of events share.
        case common(Bits)
        /// In bits of `own`, which mean something else for each type.
        case own(Bits)
        /// In a column of `log.device` or `log.context`: many events share such a row.
        case device
        case context
        /// In `word_1` or `word_2`, which hold another word for each type.
        case word(Int)
        /// In `amount_1` or `amount_2`, which hold another number for each type; in `rare` if it has over 31 bits.
        case amount(Int)
        /// In the JSON object `rare`, under the name of its column.
        case rare
    }

    /// Bits of an integer. They hold a code's position, from 1; 1 or 2 for a boolean; for a number, 1 plus the distance
    /// from its least value; for several codes, a first bit that says there is a list, and one for each code. 0 means
    /// none.
    package struct Bits: Sendable {
        package let first: Int
        package let count: Int

        package init(_ first: Int, _ count: Int) { (self.first, self.count) = (first, count) }
    }
}

/// A set of event types.
package struct EventTypes: OptionSet, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package init(_ types: EventType...) {
        rawValue = types.reduce(0) { $0 | 1 << UInt32($1.rawValue) }
    }

    package func contains(_ type: EventType) -> Bool { rawValue >> UInt32(type.rawValue) & 1 == 1 }

    package init(where isIn: (EventType) -> Bool) {
        rawValue = EventType.allCases.reduce(0) { isIn($1) ? $0 | 1 << UInt32($1.rawValue) : $0 }
    }

    package static let all = EventTypes(rawValue: EventType.allCases.reduce(0) { $0 | 1 << UInt32($1.rawValue) })
}

extension Declaration.Kind {
    /// The kind of an enumeration's words.
    static func code<Word: WireEnum>(_: Word.Type) -> Self { .code(Word.allCases.map(\.wire)) }
    static func codes<Word: WireEnum>(_: Word.Type) -> Self { .codes(Word.allCases.map(\.wire)) }

    static let identifier = text(Bounds.identifier)
    static let string = text(Bounds.string)
    static let count = integer(Bounds.count)

    static func identifier(_ kind: WordKind) -> Self { .word(kind, Bounds.identifier) }
    static func string(_ kind: WordKind) -> Self { .word(kind, Bounds.string) }
}
