internal import Postgres

/// How much of a long list a report tells one by one. What is chosen outside, categories and campaigns, may be
/// thousands. The largest are listed, and the rest is told as one sum. The database chooses and adds up, so a report of
/// a day with a million names needs no more memory than one with as many as are listed.
struct ListBound: Hashable, Sendable {
    /// The most entries of a list.
    var entries: Int64 = 200
    /// The most parts of an entry: pages of a story, buttons of a category, variants of a campaign.
    var parts: Int64 = 20
}

/// What a list leaves out.
struct RestOfList<Counts: Hashable & Sendable>: Hashable, Sendable {
    /// How many entries they are.
    var entries: Int64
    /// What they come to together. If entries of the list are counts themselves, it is one without a name.
    var counts: Counts
}

extension RestOfList {
    /// Its list in JSON and CSV. A list that is whole has none.
    static func facts(_ name: String, _ rest: Self?, _ facts: (Counts) -> [Fact]) -> [EntryList] {
        guard let rest else { return [] }
        return .single(name, Entry(facts: [.count("entries", rest.entries)] + facts(rest.counts)))
    }

    /// What a page says of it: `3 more categories have 60 deliveries together.`
    static func words(
        _ rest: Self?, _ one: String, _ many: String, _ sum: (Counts) -> Int64, of thing: String = "delivery",
        _ things: String = "deliveries"
    ) -> [Block] {
        guard let rest else { return [] }
        let entries = Wording.count(rest.entries, "more \(one) has", "more \(many) have")
        let sum = Wording.count(sum(rest.counts), thing, things)
        return [.sentence("\(entries) \(sum) together. No list of this report names them.", .note)]
    }
}

extension RestOfList<FunnelCounts> {
    static func facts(_ name: String, _ rest: Self?) -> [EntryList] { facts(name, rest) { $0.facts } }

    static func words(_ rest: Self?, _ one: String, _ many: String) -> [Block] { words(rest, one, many, \.delivered) }
}

/// The entries that a list names, and the rest.
struct BoundList<Entry: Hashable & Sendable>: Hashable, Sendable {
    var listed: [Entry] = []
    var rest: RestOfList<Entry>?

    /// An entry that is the sum of so many that are left out, or one to list.
    mutating func append(_ entry: Entry, leftOut: Int64) {
        if leftOut > 0 { rest = RestOfList(entries: leftOut, counts: entry) } else { listed.append(entry) }
    }
}

extension Rows {
    /// The entries of a list. In a column, each row says of how many entries that are left out it is the sum; of one
    /// that is listed, 0.
    func listed<Entry>(
        leftOut column: Int, _ entry: (Row) throws(PostgresError) -> Entry
    ) throws(PostgresError) -> (listed: [Entry], rest: RestOfList<Entry>?) {
        var list = BoundList<Entry>()
        for row in self { list.append(try entry(row), leftOut: try row.get(column)) }
        return (list.listed, list.rest)
    }

    /// A list for each name in the first column.
    func listedByName<Entry>(
        leftOut column: Int, _ entry: (Row) throws(PostgresError) -> Entry?
    ) throws(PostgresError) -> [ExactName: BoundList<Entry>] {
        var lists: [ExactName: BoundList<Entry>] = [:]
        for row in self {
            guard let entry = try entry(row) else { continue }
            lists[ExactName(try row.get(0)), default: BoundList()].append(entry, leftOut: try row.get(column))
        }
        return lists
    }
}
