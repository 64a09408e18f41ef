extension Page {
    private static let dismissed = "Dismissed"
    /// Categories that are shown in full; the others have their row in the table.
    private static let mostInFull = 8

    static func categories(_ report: Report) -> Section? {
        guard !report.categories.isEmpty else { return nil }
        var blocks = funnels(
            "All categories", "Category", none: "(no category)",
            of: report.categories.map { Report.Named(name: $0.name, counts: $0.counts) })
        for category in report.categories.prefix(mostInFull) { blocks += inFull(category) }
        if report.categories.prefix(mostInFull).contains(where: \.areButtonsJudged) { blocks.append(judging) }
        return Section("Categories", blocks)
    }

    private static func inFull(_ category: CategorySummary) -> [Block] {
        let name = Wording.name(category.name, else: "(no category)")
        let counts = category.counts
        var blocks: [Block] = [
            .ladder(
                Ladder(
                    name,
                    steps: [
                        .init("Delivered", value: counts.delivered, share: 1),
                        .init("Received", value: counts.received, share: counts.receiptCoverage.value ?? 0),
                        .init(
                            "Received and responded", value: counts.receivedResponded,
                            share: Rate(counts.receivedResponded, of: counts.delivered).value ?? 0),
                    ], table: steps(of: category, "\(name): what became of the delivered")))
        ]
        blocks += buttons(of: category, name)
        if !category.launches.isEmpty {
            let opened = category.launches.reduce(0) { $0 + $1.opened }
            let shares = category.launches.map { launch in
                "\(Wording.percent(Rate(launch.opened, of: opened))) "
                    + (launch.state.isEmpty ? "without saying" : "\(launch.state)")
            }
            blocks.append(
                .sentence(
                    "\(Wording.count(opened, "open", "opens")) by launch: \(shares.joined(separator: ", ")).", .plain))
        }
        return blocks
    }

    private static func steps(of category: CategorySummary, _ caption: String) -> Table {
        let counts = category.counts
        let rows: [(String, Int64)] = [
            ("Expanded", counts.expanded), ("Opened", counts.opened), ("Button tapped", counts.actionTapped),
            ("Story call to action tapped", counts.storyActionTapped), ("Responded at all", counts.responded),
            (dismissed, counts.dismissed), ("Unanswered", counts.unanswered),
            ("Media attached", counts.mediaAttached),
        ]
        return Table(
            caption, columns: [.name("What"), .number("Deliveries"), .bar("Of delivered")],
            rows: rows.filter { $0.1 > 0 }.map { name, value in
                // Of a category that does not report all of its dismissals they are no share of anything.
                let isKnown = name != dismissed || category.dismissRate != nil
                let share = isKnown ? Rate(value, of: counts.delivered).value : nil
                return [
                    Table.Cell(name), Table.Cell(Wording.count(value)),
                    Table.Cell(Wording.percent(share), share: share),
                ]
            })
    }

    static func deadActions(_ report: Report) -> Section? {
        guard !report.deadActions.isEmpty else { return nil }
        return Section(
            "Dead buttons",
            [
                .table(
                    Table(
                        "Delivered often, not tapped",
                        columns: [
                            .name("Category"), .name("Button"), .name("What is known"),
                            .number("Deliveries"), .number("Tapped by"),
                        ],
                        of: report.deadActions
                    ) { dead in
                        [
                            Table.Cell(Wording.name(dead.category, else: "(no category)")),
                            Table.Cell(dead.button),
                            Table.Cell(dead.what.known), Table.Cell(Wording.count(dead.delivered)),
                            Table.Cell(Wording.lessThan(dead.bound)),
                        ]
                    }),
                .sentence(
                    "None of the deliveries since its last tap, or in at most 28 days, tapped it: with 95 in 100 sure, fewer than "
                        + "the share at the right would. Buttons show only after a press on the notification, so being "
                        + "delivered is not being seen.", .note),
            ])
    }
}

extension DeadAction {
    fileprivate var button: String {
        switch what {
        case .silentSince(let id, _): Button.label(id, title: title)
        case .neverTapped(let index, let count):
            (title.map { "\($0) · " } ?? "") + "place \(index + 1) of \(count)"
        }
    }
}

extension DeadAction.What {
    fileprivate var known: String {
        switch self {
        case .silentSince(_, let days): "no tap for \(Wording.count(Int64(days), "day", "days"))"
        case .neverTapped: "never tapped"
        }
    }
}
