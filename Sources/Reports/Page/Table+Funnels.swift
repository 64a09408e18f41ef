extension Table {
    /// The per-category columns of a list of names, as people compare them.
    static func funnels(
        _ caption: String, _ title: String, none: String, of list: [Report.Named]
    ) -> Table {
        let shown = list.prefix(Page.Section.mostRows)
        return Table(
            caption,
            columns: [
                .init(title, .name), .init("Delivered", .number), .init("Received", .number),
                .init("Coverage", .number),
                .init("Responded", .number), .init("Response rate", .bar), .init("Dismissed", .number),
                .init("Unanswered", .number),
            ],
            rows: shown.map { row in
                let counts = row.counts
                return [
                    Cell(Wording.name(row.name, else: none)), Cell(Wording.count(counts.delivered)),
                    Cell(Wording.count(counts.received)), Cell(Wording.percent(counts.receiptCoverage)),
                    Cell(Wording.count(counts.responded)),
                    Cell(Wording.percent(counts.responseRate), share: counts.responseRate.value),
                    Cell(Wording.count(counts.dismissed)), Cell(Wording.count(counts.unanswered)),
                ]
            }, omitted: list.count - shown.count)
    }
}
