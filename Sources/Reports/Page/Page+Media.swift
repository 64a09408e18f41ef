extension Page {
    static func media(_ report: Report) -> Section? {
        guard !report.media.isEmpty || !report.mediaWithButtons.isEmpty else { return nil }
        var blocks = mediaWarnings(report)
        guard !report.media.isEmpty else { return Section("Media", blocks) }
        blocks.insert(
            .table(
                Table(
                    "What became of attachments, and who responded",
                    columns: [
                        .name("Kind"), .name("Network"), .name("Outcome"),
                        .number("Deliveries"), .bar("Of its kind"), .number("Response rate"),
                    ],
                    of: report.media, most: 2 * Table.mostRows
                ) { row in
                    let kin = report.media.filter { $0.kind == row.kind && $0.network == row.network }
                    let share = Rate(row.deliveries, of: kin.reduce(0) { $0 + $1.deliveries }).value
                    return [
                        Table.Cell(Wording.name(row.kind, else: "(not told)")),
                        Table.Cell(Wording.name(row.network, else: "(not told)")),
                        Table.Cell(
                            Wording.name(row.outcome, else: "(not told)").replacing("_", with: " "),
                            tone: row.outcome == "timed_out" || row.outcome == "failed" ? .alarm : .plain),
                        Table.Cell(Wording.count(row.deliveries)),
                        Table.Cell(Wording.percent(share), share: share),
                        Table.Cell(Wording.percent(row.responseRate)),
                    ]
                }), at: 0)
        return Section("Media", blocks)
    }

    /// What iOS makes less of than the sender thinks.
    private static func mediaWarnings(_ report: Report) -> [Block] {
        var blocks: [Block] = []
        let both = report.mediaWithButtons.reduce(0) { $0 + $1.deliveries }
        if both > 0 {
            let categories = report.mediaWithButtons.prefix(Page.mostNamed).map {
                "\(Wording.name($0.category, else: "(no category)")) (\(Wording.count($0.deliveries)))"
            }
            let others = report.mediaWithButtons.count - categories.count
            blocks.append(
                .sentence(
                    "\(Wording.count(both, "delivery", "deliveries")) had media and buttons, of which iOS shows a thumbnail: "
                        + categories.joined(separator: ", ") + (others > 0 ? " and \(others) more" : "")
                        + ". Use one of the two.", .alarm))
        }
        let audio = report.media.filter { $0.kind == "audio" && ["attached", "prefetched"].contains($0.outcome) }
            .reduce(0) { $0 + $1.deliveries }
        if audio > 0 {
            blocks.append(
                .sentence(
                    "\(Wording.count(audio, "delivery", "deliveries")) had a sound attached: nobody hears it without "
                        + "pressing the notification open.", .alarm))
        }
        return blocks
    }

    private static let mostNamed = 4
}
