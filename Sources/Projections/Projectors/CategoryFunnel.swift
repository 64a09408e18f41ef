/// Per (app, day, category): what became of the notifications of a category.
enum CategoryFunnel: Projector {
    static let name = "category_funnel"
    static let version: Int32 = 1
    static let tables = [TallyTable("category_funnel", keys: [.integer("category")], counts: DeliveryCounts.columns)]

    static func count(_ delivery: Delivery, _ weight: Int64, into tallies: inout [Tally]) {
        let facts = delivery.facts
        guard !facts.flags.isSilent else { return }
        tallies[0].add(
            DeliveryCounts.bits(of: facts.flags), times: weight, at: [facts.attributes.category, 0, 0, 0], of: delivery)
    }
}
