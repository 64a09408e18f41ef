@testable import Projections

extension FunnelSums {
    /// The laws of the contract's section 4 that these sums of the given deliveries break; empty when all hold.
    ///
    /// A law of sums over shards holds where it holds in each.
    func brokenLaws(behind deliveries: [Delivery]) -> [String] {
        let visible = deliveries.filter { !$0.facts.flags.isSilent }
        var lines = tables.values.joined().filter { $1.contains { $0 < 0 } }.map { "a count below 0: \($0.key)" }
        lines += brokenLaws(of: "category_funnel", behind: visible) { [$0.category, 0, 0, 0] }
        lines += brokenLaws(of: "thread_funnel", behind: visible) { [$0.thread, 0, 0, 0] }
        lines += brokenLaws(of: "version_funnel", behind: visible) { [$0.platform, $0.appVersion, 0, 0] }
        lines += brokenLaws(of: "campaign_funnel", behind: visible) { [$0.campaign, $0.variant, 0, 0] }
        for (cell, counts) in tables["story_page_funnel"] ?? [:] {
            lines += brokenLaws(ofPage: cell, Counts("story_page_funnel", counts))
        }
        for (cell, counts) in tables["story_funnel"] ?? [:] {
            lines += brokenLaws(ofStory: cell, Counts("story_funnel", counts), behind: visible)
        }
        for (cell, row) in tables["silent_funnel"] ?? [:] {
            let silent = Counts("silent_funnel", row)
            let results = silent["new_data"] + silent["no_data"] + silent["failed"] + silent["no_result"]
            if silent["woken"] != results { lines.append("the results sum to woken: broken at \(cell)") }
        }
        return lines
    }

    /// The counts of a row by name.
    private struct Counts {
        private let counts: [String: Int64]

        init(_ table: String, _ row: [Int64]) {
            let columns = Projectors.all.flatMap { $0.tables }.first { $0.name == table }?.counts ?? []
            counts = Dictionary(uniqueKeysWithValues: zip(columns, row))
        }

        subscript(_ name: String) -> Int64 { counts[name] ?? .min }
    }

    private func brokenLaws(
        of table: String, behind deliveries: [Delivery], keys: (Attributes) -> SIMD4<Int32>
    ) -> [String] {
        let behind = Dictionary(grouping: deliveries) {
            Tally.Cell(app: $0.name.app, day: $0.day, shard: $0.name.shard, keys: keys($0.facts.attributes))
        }
        return (tables[table] ?? [:]).flatMap { cell, row in
            let counts = Counts(table, row)
            let deliveries = behind[cell] ?? []
            let onlyDismissed = deliveries.count { $0.facts.flags.contains(.dismissed) && !$0.facts.flags.isResponded }
            let ends = counts["responded"] + Int64(onlyDismissed) + counts["unanswered"]
            return broken(
                at: "\(table) \(cell)",
                [
                    ("received ≤ delivered", counts["received"] <= counts["delivered"]),
                    ("delivered = its deliveries", counts["delivered"] == deliveries.count),
                    ("received_responded ≤ received", counts["received_responded"] <= counts["received"]),
                    ("received_responded ≤ responded", counts["received_responded"] <= counts["responded"]),
                    ("responded ≥ opened", counts["responded"] >= counts["opened"]),
                    ("responded ≥ action_tapped", counts["responded"] >= counts["action_tapped"]),
                    ("responded ≥ story_action_tapped", counts["responded"] >= counts["story_action_tapped"]),
                    ("suppressed ≤ unanswered", counts["suppressed"] <= counts["unanswered"]),
                    ("responded + only dismissed + unanswered = delivered", ends == counts["delivered"]),
                ])
        }
    }

    private func brokenLaws(
        ofStory cell: Tally.Cell, _ story: Counts, behind deliveries: [Delivery]
    ) -> [String] {
        let pages = (tables["story_page_funnel"] ?? [:])
            .filter { page, _ in
                (page.app, page.day, page.shard) == (cell.app, cell.day, cell.shard)
                    && (page.keys[0], page.keys[1]) == (cell.keys[0], cell.keys[1])
            }
            .sorted { $0.key.keys[2] < $1.key.keys[2] }.map { Counts("story_page_funnel", $0.value) }
        let reached = deliveries.count {
            ($0.name.app, $0.day, $0.name.shard) == (cell.app, cell.day, cell.shard)
                && ($0.facts.attributes.category, $0.facts.attributes.campaign) == (cell.keys[0], cell.keys[1])
                && $0.facts.story?.exit == .abandoned && $0.facts.story?.furthest != nil
        }
        let exits = story["exit_clicked"] + story["exit_finished"] + story["exit_fallback"] + story["exit_abandoned"]
        // As the view sums them: what is later in the story was planned, or reached, before.
        func sums(_ name: String) -> [Int64] { pages.indices.map { pages[$0...].reduce(0) { $0 + $1[name] } } }
        let (planned, reaching) = (sums("last"), sums("furthest"))
        return broken(
            at: "\(cell)",
            [
                ("the four exits sum to stories", exits == story["stories"]),
                ("Σ exited = abandoned that reached a page", pages.reduce(0) { $0 + $1["exited"] } == reached),
                ("planned ≥ reached", zip(planned, reaching).allSatisfy { $0 >= $1 }),
                ("reached ≥ shown", zip(reaching, pages).allSatisfy { $0 >= $1["shown"] }),
                ("exited ≤ furthest", pages.allSatisfy { $0["exited"] <= $0["furthest"] }),
            ])
    }

    private func brokenLaws(ofPage cell: Tally.Cell, _ page: Counts) -> [String] {
        let untold = (tables["story_page_gaps"] ?? [:]).filter { gap, _ in
            var key = gap.keys
            key[3] = 0
            return key == cell.keys && (gap.app, gap.day, gap.shard) == (cell.app, cell.day, cell.shard)
        }
        let advances = untold.values.reduce(page["auto_advances"] + page["manual_advances"]) { $0 + $1[0] }
        return broken(
            at: "\(cell)",
            [("advances ≤ dwells ≤ views", advances <= page["dwells"] && page["dwells"] <= page["views"])])
    }

    private func broken(at place: String, _ laws: [(name: String, holds: Bool)]) -> [String] {
        laws.filter { !$0.holds }.map { "\($0.name): broken at \(place)" }
    }
}
