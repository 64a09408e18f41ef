/// How much of a long list a report tells one by one. What is chosen outside, categories and campaigns, may be thousands. The
/// largest are listed, and the rest is told as one sum. The database chooses and adds up, so a report of a day with a million names
/// needs no more memory than one with as many as are listed.
enum ListBound {
    /// The most entries of a list.
    static let entries: Int64 = 200
}

/// The entries that a list leaves out.
struct RestOfList: Hashable, Sendable {
    /// How many entries they are.
    var entries: Int64
    /// What they come to together.
    var counts: FunnelCounts

    /// Their list in JSON and CSV. A list that is whole has none.
    static func facts(_ name: String, _ rest: RestOfList?) -> [EntryList] {
        guard let rest else { return [] }
        return .single(name, Entry(facts: [.count("entries", rest.entries)] + rest.counts.facts))
    }

    /// What a page says of them.
    static func words(_ rest: RestOfList?, _ one: String, _ many: String) -> [Block] {
        guard let rest else { return [] }
        let entries = Wording.count(rest.entries, "more \(one) has", "more \(many) have")
        let deliveries = Wording.count(rest.counts.delivered, "delivery", "deliveries")
        return [.sentence("\(entries) \(deliveries) together. No list of this report names them.", .note)]
    }
}
