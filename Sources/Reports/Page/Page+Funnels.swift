extension Page {
    /// The per-category columns of a list of names, as people compare them. A rate stands beside the two numbers that
    /// make it, and a note says what they leave out.
    static func funnels(
        _ caption: String, _ title: String, none: String, of list: [Report.Named]
    ) -> [Block] {
        let table = Table(
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
                Table.Cell(Wording.name(row.name, else: none)), Table.Cell(Wording.count(counts.delivered)),
                Table.Cell(Wording.count(counts.received)), Table.Cell(Wording.percent(counts.receiptCoverage)),
                Table.Cell(Wording.count(counts.receivedResponded)),
                Table.Cell(Wording.percent(counts.responseRate), share: counts.responseRate.value),
                Table.Cell(Wording.count(counts.dismissed)), Table.Cell(Wording.count(counts.unanswered)),
            ]
        }
        let others = list.reduce(0) { $0 + $1.counts.responded - $1.counts.receivedResponded }
        guard others > 0 else { return [.table(table)] }
        return [
            .table(table),
            .sentence(
                "\(Wording.count(others)) more responded without a receipt; rates are of what is known to have arrived.",
                .note),
        ]
    }
}
