@testable import Reports

/// A page with one of everything.
enum SmallPage {
    static let page = Page(
        title: "shop · Friday 20 November 2026", subtitle: "Made at night from position 42.",
        sections: [
            Page.Section(
                "The day",
                [
                    .figures([
                        Figure("Deliveries", "48,210", detail: "+4.8 % on the day before, +12.3 % on the usual Friday"),
                        Figure("Response rate", "11.6 %", detail: "5,123 of 44,012 received"),
                        Figure("Pushes an install", "2"),
                    ]),
                    .sentence("Response is higher than the day before.", .good),
                    .sentence(
                        "Receipts of ios 4.3.0 fell to 55.8 % from 98.3 % of its platform, lower by more than chance makes.",
                        .alarm),
                    .sentence("* p < .01 is more than chance.", .note),
                ]),
            Page.Section(
                "Categories",
                [
                    .table(table),
                    .ladder(
                        Ladder(
                            "INFO_CATEGORY",
                            steps: [
                                .init("Delivered", value: 21_044, share: 1),
                                .init("Responded", value: 2_400, share: 0.114),
                                .init("Nobody", value: 0, share: 0),
                            ],
                            table: Table(
                                "", columns: [.name("Page"), .number("Median time to tap")],
                                rows: [[.init("1"), .init("22 min 2 s")]]))),
                ]),
        ])

    private static let table = Table(
        "All categories", columns: [.name("Category"), .number("Delivered"), .bar("Rate"), .name("")],
        rows: [
            [.init("INFO_CATEGORY"), .init("21,044"), .init("11.4 %", share: 0.114), .init("first")],
            [.init("שלום"), .init("4,002"), .init("50.0 %", share: 0.5), .init("")],
            [
                .init("日本語", tone: .alarm), .init("902"), .init("< 0.1 %", share: 0.0001, tone: .alarm),
                .init("it fell", tone: .note),
            ],
            [.init("a|b *c*"), .init("0"), .init("–"), .init("")],
        ], omitted: 7)
}
