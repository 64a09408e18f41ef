internal import Postgres

/// All categories in a table, and the largest in full: funnel, buttons, answers, launches.
enum CategoriesSection: ReportSection {
    static let none = "(no category)"
    private static let dismissed = "Dismissed"
    /// The number of categories that are shown in full.
    private static let mostInFull = 8

    static func read(into report: inout Report, _ scope: ReportScope, on connection: inout Connection)
        throws(PostgresError)
    {
        (report.categories, report.otherCategories) = try CategorySummary.read(
            scope, withLaunches: !report.isSealed, on: &connection)
    }

    static func words(_ report: Report) -> Page.Section? {
        guard !report.categories.isEmpty else { return nil }
        let inFull = report.categories.prefix(mostInFull)
        var blocks = Block.funnels(
            "All categories", "Category", none: none, leadingWithEngagement: report.leadsWithEngagement,
            of: report.categories.map {
                ($0.name, $0.counts, report.dismissals.areReported(ofCategory: $0.name))
            })
        blocks += RestOfList.words(report.otherCategories, "category", "categories")
        blocks += inFull.flatMap { self.inFull($0, leadingWithEngagement: report.leadsWithEngagement) }
        if inFull.contains(where: \.areButtonsJudged) { blocks.append(Button.judging) }
        return Page.Section("Categories", blocks)
    }

    static func facts(_ report: Report) -> [EntryList] {
        .list("categories", report.categories) { category in
            Entry(
                keys: [.text("category", category.name)],
                facts: category.counts.facts + [.number("dismiss_rate", category.dismissRate)],
                lists: [
                    .list("actions", category.actions) {
                        Entry(
                            keys: [.text("action_id", $0.id)],
                            facts: $0.counts + [.number("median_seconds", $0.medianSeconds)])
                    },
                    .list("buttons", category.buttons) { $0.entry },
                    .list("answers", category.answers) {
                        Entry(
                            keys: [.text("answer", $0.answer)],
                            facts: [.count("tapped_deliveries", $0.tappedDeliveries), .count("taps", $0.taps)])
                    },
                    .list("launches", category.launches) {
                        Entry(keys: [.text("launch", $0.state)], facts: [.count("opened", $0.opened)])
                    },
                ] + RestOfList.facts("other_actions", category.otherActions) { $0.counts }
                    + RestOfList.facts("other_buttons", category.otherButtons) { $0.counts })
        } + RestOfList.facts("other_categories", report.otherCategories)
    }

    private static func inFull(_ category: CategorySummary, leadingWithEngagement leads: Bool) -> [Block] {
        let name = Wording.name(category.name, else: none)
        let counts = category.counts
        let engaged = Ladder.Step(
            "Received and engaged", value: counts.receivedEngaged,
            share: Rate(counts.receivedEngaged, of: counts.delivered).value ?? 0)
        var blocks: [Block] = [
            .ladder(
                Ladder(
                    "\(name): shares of delivered",
                    steps: [
                        .init("Delivered", value: counts.delivered, share: 1),
                        .init("Received", value: counts.received, share: counts.receiptCoverage.value ?? 0),
                        .init(
                            "Received and responded", value: counts.receivedResponded,
                            share: Rate(counts.receivedResponded, of: counts.delivered).value ?? 0),
                    ] + (leads ? [engaged] : []),
                    table: outcomes(of: category, "\(name): what became of the deliveries")))
        ]
        blocks += category.buttonBlocks(name)
        if !category.launches.isEmpty {
            let opened = category.launches.reduce(0) { $0 + $1.opened }
            let shares = category.launches.map { launch in
                "\(Wording.percent(Rate(launch.opened, of: opened))) "
                    + (launch.state.isEmpty ? "not known" : "\(launch.state)")
            }
            blocks.append(
                .sentence(
                    "State of the app at \(Wording.count(opened, "open", "opens")): \(shares.joined(separator: ", ")).",
                    .plain))
        }
        return blocks
    }

    private static func outcomes(of category: CategorySummary, _ caption: String) -> Table {
        let counts = category.counts
        let rows = [
            ("Expanded", counts.expanded), ("Opened", counts.opened), ("Button tapped", counts.actionTapped),
            ("Story call to action tapped", counts.storyActionTapped), ("Responded in any way", counts.responded),
            ("Only closed or declined by a button", counts.closed),
            (dismissed, counts.dismissed), ("Unanswered", counts.unanswered), ("Media attached", counts.mediaAttached),
        ]
        return Table(caption, of: rows.filter { $0.1 > 0 }) { what, count in
            // If iOS does not report the category's dismissals, the known ones are a share of nothing.
            let isShare = what != dismissed || category.dismissRate != nil
            return [
                .text("What", what), .count("Deliveries", count),
                .bar("Of deliveries", Rate(count, of: isShare ? counts.delivered : 0)),
            ]
        }
    }
}
