/// Per (app, day, thread): whether a group of notifications is still looked at, and how many items it stood for.
enum ThreadFunnel: Projector {
    static let name = "thread_funnel"
    static let version: Int32 = 1
    static let tables = [
        TallyTable("thread_funnel", keys: [.integer("thread")], counts: DeliveryCounts.columns + ["items"])
    ]

    static func count(_ delivery: Delivery, _ weight: Int64, into tallies: inout [Tally]) {
        let facts = delivery.facts
        guard !facts.flags.isSilent else { return }
        let keys: SIMD4<Int32> = [facts.attributes.thread, 0, 0, 0]
        let items = UInt32(1) << DeliveryCounts.columns.count
        tallies[0].add(DeliveryCounts.bits(of: facts.flags) | items, times: weight, at: keys, of: delivery)
        // Most stand for one item, which the bit has counted.
        if facts.items != 1 {
            var amounts = [Int64](repeating: 0, count: DeliveryCounts.columns.count + 1)
            amounts[DeliveryCounts.columns.count] = Int64(facts.items) - 1
            tallies[0].add(amounts, times: weight, at: keys, of: delivery)
        }
    }
}
