/// A value with its name. JSON and CSV are written from facts, so both use the same names.
struct Fact {
    var name: String
    var value: Value

    enum Value {
        case count(Int64?)
        /// A share, a probability or seconds.
        case number(Double?)
        /// A sum of money, to the last digit.
        case amount(Amount)
        case text(String?)
        case texts([String])
        case flag(Bool)
        case verdict(Significance)
        /// Facts that belong together, under one name; nil if nothing is known of them.
        case facts([Fact]?)
    }

    static func count(_ name: String, _ count: Int64?) -> Fact { Fact(name: name, value: .count(count)) }
    static func count(_ name: String, _ count: Int?) -> Fact { Fact(name: name, value: .count(count.map(Int64.init))) }
    static func number(_ name: String, _ number: Double?) -> Fact { Fact(name: name, value: .number(number)) }
    static func amount(_ name: String, _ amount: Amount) -> Fact { Fact(name: name, value: .amount(amount)) }
    static func text(_ name: String, _ text: String?) -> Fact { Fact(name: name, value: .text(text)) }
    static func texts(_ name: String, _ texts: [String]) -> Fact { Fact(name: name, value: .texts(texts)) }
    static func flag(_ name: String, _ flag: Bool) -> Fact { Fact(name: name, value: .flag(flag)) }
    static func facts(_ name: String, _ facts: [Fact]?) -> Fact { Fact(name: name, value: .facts(facts)) }
}

/// Something that a report describes: what identifies it, what is known of it, and the lists below it.
struct Entry {
    /// At most four, with those of the entries above it. Together they identify it among its neighbours.
    var keys: [Fact] = []
    var facts: [Fact] = []
    var lists: [EntryList] = []
}

/// Entries of one kind.
struct EntryList {
    var name: String
    var entries: [Entry]
    /// True for what a report has once or not at all: an object in JSON, not a list.
    var isSingle = false

    static func list<Element>(_ name: String, _ elements: [Element], _ entry: (Element) -> Entry) -> EntryList {
        EntryList(name: name, entries: elements.map(entry))
    }

    static func single(_ name: String, _ entry: Entry?) -> EntryList {
        EntryList(name: name, entries: entry.map { [$0] } ?? [], isSingle: true)
    }
}

extension [EntryList] {
    /// A single list.
    static func list<Row>(_ name: String, _ rows: [Row], _ entry: (Row) -> Entry) -> [EntryList] {
        [EntryList.list(name, rows, entry)]
    }

    static func single(_ name: String, _ entry: Entry?) -> [EntryList] { [EntryList.single(name, entry)] }
}
