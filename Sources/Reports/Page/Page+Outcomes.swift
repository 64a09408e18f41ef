extension Page {
    static func suppressed(_ report: Report) -> Section? {
        guard !report.suppressed.isEmpty else { return nil }
        let all = report.suppressed.reduce(Rate(0, of: 0)) { $0 + $1.suppressed }
        return Section(
            "Shown to nobody",
            [
                .sentence(
                    "\(Wording.count(all.part, "delivery", "deliveries")) came while the app was open, and it showed "
                        + "neither banner nor list entry.", .plain),
                .table(
                    Table(
                        "Suppressed in the foreground",
                        columns: [
                            .name("Category"), .number("Suppressed"), .bar("Of delivered"),
                        ],
                        of: report.suppressed
                    ) { row in
                        [
                            Table.Cell(Wording.name(row.category, else: "(no category)")),
                            Table.Cell(Wording.count(row.suppressed.part)),
                            Table.Cell(Wording.percent(row.suppressed), share: row.suppressed.value),
                        ]
                    }),
            ])
    }

    static func silent(_ report: Report) -> Section? {
        guard !report.silent.isEmpty else { return nil }
        let sent = Dictionary(report.campaigns.map { (ExactName($0.name), $0.sent) }) { first, _ in first }
        let isSentKnown = report.silent.contains { sent[ExactName($0.campaign)] ?? nil != nil }
        let table = Table(
            "Woke the app without showing anything",
            columns: [.name("Campaign")] + (isSentKnown ? [.number("Sent")] : []) + [
                .number("Woken"), .bar("New data"), .number("No data"), .number("Failed"), .number("No result"),
            ],
            of: report.silent
        ) { row in
            let share = Rate(row.newData, of: row.woken).value
            let told = (sent[ExactName(row.campaign)] ?? nil).map(Wording.count) ?? "–"
            return [Table.Cell(Wording.name(row.campaign, else: "(no campaign)"))]
                + (isSentKnown ? [Table.Cell(told)] : []) + [
                    Table.Cell(Wording.count(row.woken)), Table.Cell(Wording.count(row.newData), share: share),
                    Table.Cell(Wording.count(row.noData)), Table.Cell(Wording.count(row.failed)),
                    Table.Cell(Wording.count(row.noResult)),
                ]
        }
        return Section("Silent pushes", [.table(table)])
    }

    static func quality(_ report: Report) -> Section? {
        let quality = report.quality
        guard !quality.isEmpty else { return nil }
        let sent = quality.accepted + quality.duplicate + quality.rejected
        let rows: [(String, Int64, String)] =
            [
                ("Stored", quality.accepted, "new events"),
                ("Repeats", quality.duplicate, "stored before, not counted twice"),
                ("Rejected", quality.rejected, "kept in rejected_events"),
            ] + quality.rejectedByReason.map { ("  \($0.reason)", $0.events, "") } + [
                ("Late", quality.late, "received over a day after they occurred"),
                ("Corrected", quality.corrected, "device clock over 5 minutes off"),
                ("Clamped", quality.clamped, "ahead of the server, got the time of receipt"),
                ("Dropped by clients", quality.clientDropped, "thrown away before they could be sent"),
            ]
        return Section(
            "Data quality",
            [
                .sentence(
                    "\(Wording.count(sent, "event", "events")) came in on this day, whatever day they tell of.", .plain),
                .table(
                    Table(
                        "What became of what was received",
                        columns: [
                            .name("What"), .number("Events"), .number("Of received"),
                            .name(""),
                        ],
                        rows: rows.filter { $0.1 > 0 }.map { name, events, meaning in
                            [
                                Table.Cell(name), Table.Cell(Wording.count(events)),
                                Table.Cell(
                                    name == "Dropped by clients" ? "–" : Wording.percent(Rate(events, of: sent))),
                                Table.Cell(meaning),
                            ]
                        })),
            ])
    }
}
