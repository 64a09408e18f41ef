extension Page {
    /// Categories that are shown in full; the others have their row in the table.
    private static let mostInFull = 8

    static func categories(_ report: Report) -> Section? {
        guard !report.categories.isEmpty else { return nil }
        var blocks = funnels(
            "All categories", "Category", none: "(no category)",
            of: report.categories.map { Report.Named(name: $0.name, counts: $0.counts) })
        for category in report.categories.prefix(mostInFull) { blocks += inFull(category) }
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
                    ], table: steps(of: counts, "\(name): what became of the delivered")))
        ]
        if !category.actions.isEmpty { blocks.append(.table(actions(of: category, name))) }
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

    private static func steps(of counts: FunnelCounts, _ caption: String) -> Table {
        let rows: [(String, Int64)] = [
            ("Expanded", counts.expanded), ("Opened", counts.opened), ("Button tapped", counts.actionTapped),
            ("Story call to action tapped", counts.storyActionTapped), ("Responded at all", counts.responded),
            ("Dismissed", counts.dismissed), ("Unanswered", counts.unanswered),
            ("Media attached", counts.mediaAttached),
        ]
        return Table(
            caption, columns: [.name("What"), .number("Deliveries"), .bar("Of delivered")],
            rows: rows.filter { $0.1 > 0 }.map { name, value in
                let share = Rate(value, of: counts.delivered).value
                return [
                    Table.Cell(name), Table.Cell(Wording.count(value)),
                    Table.Cell(Wording.percent(share), share: share),
                ]
            })
    }

    private static func actions(of category: CategorySummary, _ name: String) -> Table {
        return Table(
            "\(name): buttons",
            columns: [
                .name("Button"), .number("Tapped"), .bar("Of delivered"), .number("Taps"),
                .number("In the app"), .number("Median time to tap"),
            ],
            of: category.actions
        ) { action in
            let share = Rate(action.tappedDeliveries, of: category.counts.delivered).value
            return [
                Table.Cell(action.id), Table.Cell(Wording.count(action.tappedDeliveries)),
                Table.Cell(Wording.percent(share), share: share), Table.Cell(Wording.count(action.taps)),
                Table.Cell(Wording.count(action.foregroundTaps)),
                Table.Cell(Wording.duration(seconds: action.medianSeconds)),
            ]
        }
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
                            Table.Cell(dead.what.button),
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

extension DeadAction.What {
    fileprivate var button: String {
        switch self {
        case .silentSince(let id, _): id
        case .neverTapped(let index, let count): "place \(index + 1) of \(count)"
        }
    }

    fileprivate var known: String {
        switch self {
        case .silentSince(_, let days): "no tap for \(Wording.count(Int64(days), "day", "days"))"
        case .neverTapped: "never tapped"
        }
    }
}
