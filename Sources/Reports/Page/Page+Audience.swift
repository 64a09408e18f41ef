extension Page {
    static func threads(_ report: Report) -> Section? {
        guard report.threads.contains(where: { !$0.name.isEmpty }) else { return nil }
        return Section(
            "Notification groups",
            [
                .table(
                    Table(
                        "By thread",
                        columns: [
                            .name("Thread"), .number("Delivered"), .number("Items"),
                            .number("Received"), .bar("Response rate"), .number("Dismissed"),
                        ],
                        of: report.threads
                    ) { thread in
                        let counts = thread.counts
                        return [
                            Table.Cell(Wording.name(thread.name, else: "(no thread)")),
                            Table.Cell(Wording.count(counts.delivered)), Table.Cell(Wording.count(thread.items)),
                            Table.Cell(Wording.count(counts.received)),
                            Table.Cell(Wording.percent(counts.responseRate), share: counts.responseRate.value),
                            Table.Cell(Wording.count(counts.dismissed)),
                        ]
                    })
            ])
    }

    static func versions(_ report: Report) -> Section? {
        guard !report.versions.isEmpty else { return nil }
        var blocks: [Block] = report.versions.filter(\.isAlarm).map { version in
            .sentence(
                "Receipt coverage of \(version.title) fell to \(Wording.percent(version.counts.receiptCoverage)) from "
                    + "\(Wording.percent(version.before))"
                    + (version.isNew ? " of its platform" : "") + ", \(version.verdict.words). "
                    + "Look at its notification service extension.", .alarm)
        }
        blocks.append(
            .table(
                Table(
                    "Receipt coverage by app version",
                    columns: [
                        .name("Version"), .number("Delivered"), .number("Received"),
                        .bar("Coverage"), .number("Seven days before"), .number("Response rate"),
                    ],
                    of: report.versions
                ) { version in
                    let coverage = version.counts.receiptCoverage
                    return [
                        Table.Cell(
                            version.title + (version.isNew ? " *" : ""), tone: version.isAlarm ? .alarm : .plain),
                        Table.Cell(Wording.count(version.counts.delivered)),
                        Table.Cell(Wording.count(version.counts.received)),
                        Table.Cell(
                            Wording.percent(coverage), share: coverage.value,
                            tone: version.isAlarm ? .alarm : .plain),
                        Table.Cell(Wording.percent(version.before)),
                        Table.Cell(Wording.percent(version.counts.responseRate)),
                    ]
                }))
        if report.versions.prefix(Table.mostRows).contains(where: \.isNew) {
            blocks.append(.sentence("* New or rare: seven days before, all versions of the platform.", .note))
        }
        return Section("Receipts by app version", blocks)
    }

    static func reach(_ report: Report) -> Section? {
        guard report.reach.reached > 0 else { return nil }
        let reach = report.reach
        var figures = [
            Figure("Installs reached", Wording.count(reach.reached)),
            Figure(
                "Installs responding", Wording.count(reach.responding),
                detail: "\(Wording.percent(Rate(reach.responding, of: reach.reached))) of those reached"),
        ]
        if let median = reach.pushesP50, let many = reach.pushesP95 {
            figures.append(
                Figure(
                    "Pushes an install", Wording.count(median),
                    detail: "median; \(Wording.count(many)) at the 95th in 100"))
        }
        return Section(
            "Installs",
            [.figures(figures), .sentence("Each install counts once for the day: days cannot be summed.", .note)])
    }

    static func hours(_ report: Report) -> Section? {
        guard report.hours.contains(where: { $0.delivered > 0 }) else { return nil }
        let most = max(report.hours.map(\.delivered).max() ?? 0, 1)
        return Section(
            "Hour of day",
            [
                .table(
                    Table(
                        "By the first event, in \(report.timeZone)",
                        columns: [.name("Hour"), .bar("Delivered"), .bar("Response rate")],
                        rows: report.hours.map { hour in
                            [
                                Table.Cell("\(hour.hour < 10 ? "0" : "")\(hour.hour):00"),
                                Table.Cell(
                                    Wording.count(hour.delivered), share: Double(hour.delivered) / Double(most)),
                                Table.Cell(Wording.percent(hour.response), share: hour.response.value),
                            ]
                        }))
            ])
    }
}

extension VersionSummary {
    fileprivate var title: String {
        "\(Wording.name(platform, else: "(no platform)")) \(Wording.name(version, else: "(no version)"))"
    }
}
