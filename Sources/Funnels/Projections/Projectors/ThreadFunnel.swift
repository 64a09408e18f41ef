/// Per (app, day, thread): whether people still react to a group of notifications, and how many items it stood for.
enum ThreadFunnel: Projector {
    static let name = "thread_funnel"
    static let version: Int32 = 1
    static let tables = [
        TallyTable(
            name,
            keys: [thread],
            columns: DeliveryCounts.columns + [
                .count(
                    "items",
                    """
                    Items that the deliveries stand for in the group's summary: the sum of each delivery's largest \
                    summary_argument_count, 1 if it has none. More than 2,147,483,647 counts as that
                    """)
            ] + DeliveryCounts.rates,
            view: .sums(
                "The columns of category_funnel by notification group, and how many items its notifications stood for."),
            recount: .init(
                DeliveryCounts.recount(by: "thread", and: ",\n    sum(items)::bigint AS items"),
                behind: "\(sameDay) AND d.thread = cell.thread AND \(noneSilent)")),
        SoleTaps.table("thread_soles", keys: [thread]),
    ]

    private static let thread = TallyTable.Key.word(
        "thread", "Notification group (thread identifier); '' for deliveries without one")

    static let counted = Counted([.closed(by: "thread_soles", of: name, keys: [thread])])

    static func count(_ delivery: Delivery, _ weight: Int64, into tallies: inout [Tally]) {
        let facts = delivery.facts
        guard !facts.flags.isSilent else { return }
        let keys = Tally.Keys(facts.attributes.thread)
        SoleTaps.count(delivery, weight, at: keys, width: 1, into: &tallies[1])
        let items = UInt32(1) << DeliveryCounts.count
        tallies[0].add(DeliveryCounts.bits(of: facts.flags) | items, times: weight, at: keys, of: delivery)
        // Most deliveries stand for one item, which the bit has already counted.
        if facts.items != 1 {
            var amounts = [Int64](repeating: 0, count: DeliveryCounts.count + 1)
            amounts[DeliveryCounts.count] = Int64(facts.items) - 1
            tallies[0].add(amounts, times: weight, at: keys, of: delivery)
        }
    }
}
