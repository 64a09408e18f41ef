extension Page {
    /// Stories whose pages are shown; all are in JSON and CSV.
    private static let mostInFull = 6

    static func stories(_ report: Report) -> Section? {
        guard !report.stories.isEmpty else { return nil }
        var blocks: [Block] = [
            .table(
                Table(
                    "How stories ended",
                    columns: [
                        .name("Story"), .number("Stories"), .number("Started"),
                        .bar("Completed"), .number("Clicked"), .number("Finished"),
                        .number("Abandoned"), .number("Fallback"),
                    ],
                    of: report.stories
                ) { story in
                    [
                        Table.Cell(story.title), Table.Cell(Wording.count(story.stories)),
                        Table.Cell(Wording.count(story.started)),
                        Table.Cell(Wording.percent(story.completionRate), share: story.completionRate.value),
                        Table.Cell(Wording.count(story.exits.clicked)),
                        Table.Cell(Wording.count(story.exits.finished)),
                        Table.Cell(Wording.count(story.exits.abandoned)),
                        Table.Cell(Wording.count(story.exits.fallback)),
                    ]
                })
        ]
        for story in report.stories.prefix(mostInFull) where !story.pages.isEmpty {
            blocks.append(.ladder(story.ladder))
            blocks += story.faults.map {
                .sentence("\(story.title): \($0.words)", $0.kind == .noImage ? .alarm : .plain)
            }
        }
        if let cost = report.fallbackCost { blocks.append(sentence(of: cost)) }
        return Section("Stories", blocks)
    }

    private static func sentence(of cost: FallbackCost) -> Block {
        guard cost.fallback.whole > 0 else {
            return .sentence("No received story fell back to its notification.", .good)
        }
        guard let fallback = cost.fallback.value, let shown = cost.shown.value else {
            return .sentence("Every received story fell back to its notification: no page was seen.", .alarm)
        }
        var tone = Tone.plain
        if case .lower = cost.verdict { tone = .alarm }
        return .sentence(
            "Where the fallback was shown, \(Wording.percent(fallback)) of \(Wording.count(cost.fallback.whole)) responded; "
                + "where the story was, \(Wording.percent(shown)) of \(Wording.count(cost.shown.whole)): "
                + "\(Wording.points(from: shown, to: fallback)), \(cost.verdict.words).", tone)
    }
}

extension StorySummary {
    /// Pages that are drawn; a client may claim a thousand.
    private static let mostPages = 20
    /// In columns, so that in a picture on a phone it leaves room for the figures.
    private static let widestTitle = 18

    fileprivate var title: String {
        let category = Wording.name(category, else: "(no category)")
        return campaign.isEmpty ? category : "\(category) · \(campaign)"
    }

    /// The pages from the first to the last, as shares of the stories that had a first.
    fileprivate var ladder: Ladder {
        let areAdvancesTold = pages.contains { $0.autoRate.whole > 0 }
        let top = max(pages.first?.planned ?? 0, 1)
        return Ladder(
            "\(title): pages reached",
            steps: pages.prefix(Self.mostPages).map { page in
                Ladder.Step(
                    page.label(title: page.title?.cut(to: Self.widestTitle, keeping: .beginning)), value: page.reached,
                    share: Double(page.reached) / Double(top))
            },
            table: Table(
                "\(title): page by page",
                columns: [
                    .name("Page"), .number("Planned"), .number("Reached"),
                    .number("Drop-off"),
                    .number("Shown"), .number(areAdvancesTold ? "Went on by itself" : "Views"), .number("Mean dwell"),
                    .number("Clicked"), .bar("Click rate"), .number("Left here"),
                ],
                of: Array(zip(pages, [nil] + pages.map(Optional.some))), most: Self.mostPages
            ) { page, before in
                let lost = before.map { Rate($0.reached - page.reached, of: $0.reached) }
                return [
                    Table.Cell(page.title.map { page.label(title: $0) } ?? "\(page.index + 1)"),
                    Table.Cell(Wording.count(page.planned)),
                    Table.Cell(Wording.count(page.reached)), Table.Cell(lost.map(Wording.percent) ?? "–"),
                    Table.Cell(Wording.count(page.shown)),
                    Table.Cell(areAdvancesTold ? Wording.percent(page.autoRate) : Wording.count(page.views)),
                    Table.Cell(Wording.duration(seconds: page.meanDwellSeconds)),
                    Table.Cell(Wording.count(page.clicked)),
                    Table.Cell(Wording.percent(page.clickRate), share: page.clickRate.value),
                    Table.Cell(Wording.count(page.exited)),
                ]
            })
    }
}

extension StorySummary.Page {
    fileprivate func label(title: String?) -> String {
        title.map { $0.isEmpty ? "Page \(index + 1)" : "\(index + 1) · \($0)" } ?? "Page \(index + 1)"
    }
}

extension StorySummary.PageFault {
    fileprivate var words: String {
        let page = "page \(declaredIndex + 1), as it was sent, "
        return switch kind {
        case .noImage: page + "has no image that can be loaded, so it is never shown."
        case .invalidLink: page + "has a link that is none."
        case .buttonWithoutLink: page + "has a button that leads nowhere."
        case .linkWithoutButton: page + "has a link without a button to tap."
        }
    }
}
