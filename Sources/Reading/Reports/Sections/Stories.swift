internal import Postgres
internal import Telemetry

/// What it costs when the fallback is shown instead of the story: the response with and without the story.
struct FallbackCost: Hashable, Sendable {
    /// Of received deliveries whose story fell back.
    var fallback: Rate
    /// Of received deliveries whose story was shown.
    var shown: Rate
    var verdict: Significance
}

extension FallbackCost {
    /// Over received deliveries, like all response rates.
    fileprivate static func read(
        _ scope: ReportScope, on connection: inout Connection
    ) throws(PostgresError) -> FallbackCost? {
        let row = try connection.query(
            """
            SELECT
                count(*),
                count(*) FILTER (WHERE received AND story_exit = 'fallback'),
                count(*) FILTER (WHERE received_responded AND story_exit = 'fallback'),
                count(*) FILTER (WHERE received AND story_exit <> 'fallback'),
                count(*) FILTER (WHERE received_responded AND story_exit <> 'fallback')
            FROM analytics.deliveries
            WHERE app = \(scope.app) AND day = \(scope.day) AND story_exit IS NOT NULL
            """)[0]
        guard try row.get(0, as: Int64.self) > 0 else { return nil }
        let fallback = Rate(try row.get(2), of: try row.get(1))
        let shown = Rate(try row.get(4), of: try row.get(3))
        return FallbackCost(fallback: fallback, shown: shown, verdict: TwoProportions.verdict(fallback, against: shown))
    }

    fileprivate var sentence: Block {
        guard fallback.whole > 0 else {
            return .sentence("No received story fell back to its plain notification.", .good)
        }
        guard let fell = fallback.value, let seen = shown.value else {
            return .sentence("Every received story fell back to its plain notification: no page was seen.", .alarm)
        }
        var tone = Tone.plain
        if case .lower = verdict { tone = .alarm }
        return .sentence(
            "\(Wording.percent(fell)) of \(Wording.count(fallback.whole)) responded where the fallback was shown, and "
                + "\(Wording.percent(seen)) of \(Wording.count(shown.whole)) where the story was: "
                + "\(Wording.difference(from: seen, to: fell)). \(verdict.sentence)", tone)
    }
}

/// How stories ended, and page by page who stayed. The last sentence is what the fallback costs.
enum StoriesSection: ReportSection {
    /// The number of stories whose pages are shown. JSON and CSV have all of them.
    private static let mostInFull = 6
    /// Of fewer, the pages say nothing.
    private static let leastInFull: Int64 = 10

    static func read(into report: inout Report, _ scope: ReportScope, on connection: inout Connection)
        throws(PostgresError)
    {
        (report.stories, report.otherStories) = try StorySummary.read(scope, on: &connection)
        if !report.isSealed, case .day = report.period {
            report.fallbackCost = try FallbackCost.read(scope, on: &connection)
        }
    }

    static func eachVerdict(_ report: inout Report, _ visit: (inout Significance) -> Void) {
        if var cost = report.fallbackCost {
            visit(&cost.verdict)
            report.fallbackCost = cost
        }
    }

    static func deeds(_ report: Report) -> [Deed] {
        report.stories.prefix(mostInFull).filter { $0.stories >= leastInFull }.compactMap { story in
            story.faults.first { $0.kind == .noImage }.map { fault in
                Deed(
                    urgency: .broken, deliveries: story.stories, ask: "Mend the pages of \(story.name)",
                    why: fault.words.hasSuffix(".") ? String(fault.words.dropLast()) : fault.words,
                    section: "Stories", subject: .story(story.name))
            }
        }
    }

    static func words(_ report: Report) -> Page.Section? {
        guard !report.stories.isEmpty else { return nil }
        let ends = Table("How stories ended", of: report.stories) { story in
            [
                .text("Story", story.name), .count("Stories", story.stories), .count("Started", story.started),
                .bar("Completed", story.completionRate), .count("Clicked", story.exits.clicked),
                .count("Finished", story.exits.finished), .count("Abandoned", story.exits.abandoned),
                .count("Fallback", story.exits.fallback),
            ]
        }
        var blocks = [Block.table(ends)]
        blocks += RestOfList.words(report.otherStories, "kind of story", "kinds of story", \.stories)
        for story in report.stories.prefix(mostInFull) where !story.pages.isEmpty && story.stories >= leastInFull {
            blocks.append(.ladder(story.ladder))
            blocks += story.faults.map {
                .sentence("\(story.name): \($0.words)", $0.kind == .noImage ? .alarm : .plain)
            }
        }
        if let cost = report.fallbackCost { blocks.append(cost.sentence) }
        return Page.Section("Stories", blocks)
    }

    static func facts(_ report: Report) -> [EntryList] {
        [
            .list("stories", report.stories) { story in
                Entry(
                    keys: [
                        .text("category", story.category), .text("campaign", story.campaign),
                        .text("variant", story.variant),
                    ],
                    facts: story.facts,
                    lists: [
                        .list("pages", story.pages) {
                            Entry(keys: [.count("page_index", $0.index)], facts: $0.counts + $0.declared)
                        },
                        .list("faults", story.faults) {
                            Entry(
                                keys: [.count("declared_index", $0.declaredIndex)],
                                facts: [.text("fault", $0.kind.rawValue)])
                        },
                    ] + RestOfList.facts("other_pages", story.otherPages) { $0.counts })
            }
        ] + RestOfList.facts("other_stories", report.otherStories) { $0.facts } + [
            .single(
                "fallback_cost",
                report.fallbackCost.map { cost in
                    let rates: [Fact] = [
                        .facts("fallback", cost.fallback.asResponse), .facts("shown", cost.shown.asResponse),
                    ]
                    return Entry(facts: rates + cost.verdict.facts)
                })
        ]
    }
}

extension StorySummary {
    /// The number of pages that are drawn.
    private static let mostPages = 20
    /// In columns. A picture on a phone needs room for the figures too.
    private static let widestTitle = 18

    fileprivate var facts: [Fact] {
        [
            .count("stories", stories), .count("started", started), .count("completed", completed),
            .count("exit_clicked", exits.clicked), .count("exit_finished", exits.finished),
            .count("exit_fallback", exits.fallback), .count("exit_abandoned", exits.abandoned),
            .number("completion_rate", completionRate.value),
            .number("fallback_rate", Rate(exits.fallback, of: stories).value),
        ]
    }

    var name: String {
        let category = Wording.name(category, else: CategoriesSection.none)
        return ([category] + [campaign, variant].filter { !$0.isEmpty }).joined(separator: " · ")
    }

    /// The pages from the first to the last, as shares of the stories that had a first page.
    fileprivate var ladder: Ladder {
        let areAdvancesTold = pages.contains { $0.autoRate.whole > 0 }
        let top = max(pages.first?.planned ?? 0, 1)
        return Ladder(
            "\(name): pages reached",
            steps: pages.prefix(Self.mostPages).map { page in
                Ladder.Step(
                    page.label(title: page.title?.cut(to: Self.widestTitle, keeping: .beginning)), value: page.reached,
                    share: Double(page.reached) / Double(top))
            },
            table: Table(
                "\(name): page by page", of: Array(zip(pages, [nil] + pages.map(Optional.some))), most: Self.mostPages
            ) { page, before in
                [
                    .text("Page", page.title.map { page.label(title: $0) } ?? "\(page.index + 1)"),
                    .count("Planned", page.planned), .count("Reached", page.reached),
                    .percent("Drop-off", before.map { Rate($0.reached - page.reached, of: $0.reached) }),
                    .count("Shown", page.shown),
                    areAdvancesTold ? .percent("Advanced by itself", page.autoRate) : .count("Views", page.views),
                    .number("Mean dwell", Wording.duration(seconds: page.meanDwellSeconds)),
                    .count("Clicked", page.clicked), .bar("Click rate", page.clickRate),
                    .count("Left here", page.exited),
                ]
            })
    }
}

extension StorySummary.Page {
    fileprivate func label(title: String?) -> String {
        title.map { $0.isEmpty ? "Page \(index + 1)" : "\(index + 1) · \($0)" } ?? "Page \(index + 1)"
    }

    /// What adds up over pages.
    fileprivate var counts: [Fact] {
        [
            .count("planned", planned), .count("reached", reached), .count("shown", shown), .count("views", views),
            .count("clicked", clicked), .count("exited", exited), .count("dwell_ms", dwellMilliseconds),
            .count("dwells", dwells), .number("click_rate", clickRate.value),
            .number("mean_dwell_seconds", meanDwellSeconds), .count("auto_advances", autoAdvances),
            .count("manual_advances", manualAdvances), .count("unexplained_advances", unexplainedAdvances),
        ]
    }

    fileprivate var declared: [Fact] { [.text("page_title", title), .count("declared_ms", declaredMilliseconds)] }
}

extension StorySummary.PageFault {
    fileprivate var words: String {
        let page = "page \(declaredIndex + 1) of the payload was sent "
        return switch kind {
        case .noImage: page + "without an image that can be loaded, so it is never shown."
        case .invalidLink: page + "with an invalid link."
        case .buttonWithoutLink: page + "with a button that leads nowhere."
        case .linkWithoutButton: page + "with a link, but without a button to tap."
        }
    }
}
