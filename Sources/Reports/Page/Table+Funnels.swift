extension Table {
    /// The per-category columns of a list of names, as people compare them.
    static func funnels(
        _ caption: String, _ title: String, none: String, of list: [Report.Named]
    ) -> Table {
        return Table(
            caption,
            columns: [
                .name(title), .number("Delivered"), .number("Received"),
                .number("Coverage"),
                .number("Responded"), .bar("Response rate"), .number("Dismissed"),
                .number("Unanswered"),
            ],
            of: list
        ) { row in
            let counts = row.counts
            return [
                Cell(Wording.name(row.name, else: none)), Cell(Wording.count(counts.delivered)),
                Cell(Wording.count(counts.received)), Cell(Wording.percent(counts.receiptCoverage)),
                Cell(Wording.count(counts.responded)),
                Cell(Wording.percent(counts.responseRate), share: counts.responseRate.value),
                Cell(Wording.count(counts.dismissed)), Cell(Wording.count(counts.unanswered)),
            ]
        }
    }
}
