/// A value with its name: what JSON and CSV are written from, so that they name everything alike.
struct Fact {
    var name: String
    var value: Value

    enum Value {
        case count(Int64?)
        /// A share, a probability or seconds.
        case number(Double?)
        case text(String?)
        case texts([String])
        case flag(Bool)
        case verdict(Verdict)
        /// Facts that belong together, under one name; nil when nothing is known of them.
        case facts([Fact]?)
    }

    static func count(_ name: String, _ count: Int64?) -> Fact { Fact(name: name, value: .count(count)) }
    static func count(_ name: String, _ count: Int?) -> Fact { Fact(name: name, value: .count(count.map(Int64.init))) }
    static func number(_ name: String, _ number: Double?) -> Fact { Fact(name: name, value: .number(number)) }
    static func text(_ name: String, _ text: String?) -> Fact { Fact(name: name, value: .text(text)) }
    static func texts(_ name: String, _ texts: [String]) -> Fact { Fact(name: name, value: .texts(texts)) }
    static func flag(_ name: String, _ flag: Bool) -> Fact { Fact(name: name, value: .flag(flag)) }
    static func verdict(_ verdict: Verdict) -> Fact { Fact(name: "verdict", value: .verdict(verdict)) }
    static func facts(_ name: String, _ facts: [Fact]?) -> Fact { Fact(name: name, value: .facts(facts)) }
}

/// Something that a report tells of: what names it, what is known of it, and the lists under it.
struct Entry {
    /// At most three; together they name it among its neighbours.
    var keys: [Fact] = []
    var facts: [Fact] = []
    var lists: [EntryList] = []
}

/// Entries of one sort.
struct EntryList {
    var name: String
    var entries: [Entry]
    /// True for what a report has once or not at all: an object in JSON, not a list.
    var isSingle = false

    static func list(_ name: String, _ entries: [Entry]) -> EntryList { EntryList(name: name, entries: entries) }

    static func single(_ name: String, _ entry: Entry?) -> EntryList {
        EntryList(name: name, entries: entry.map { [$0] } ?? [], isSingle: true)
    }
}

extension Verdict {
    /// The word for it.
    var word: String {
        switch self {
        case .higher: "higher"
        case .lower: "lower"
        case .likeChance: "like_chance"
        case .smallSample: "small_sample"
        case .unsettled: "unsettled"
        case .divided: "divided"
        }
    }

    /// 1, −1 and 0, where there is one.
    var sign: Int64? {
        switch self {
        case .higher: 1
        case .lower: -1
        case .likeChance: 0
        case .smallSample, .unsettled, .divided: nil
        }
    }

    /// The test's.
    var probability: Double? {
        switch self {
        case .higher(let p), .lower(let p), .likeChance(let p): p
        case .smallSample, .unsettled, .divided: nil
        }
    }

    /// It and its probability.
    var facts: [Fact] { [.verdict(self), .number("p", probability)] }
}
