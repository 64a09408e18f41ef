internal import Postgres
internal import Values

/// A category against the same weekday of the weeks before, or those weeks, by the rate that the report leads with.
struct Mover: Hashable, Sendable {
    var category: String
    var delivered: Int64
    var rate: Rate
    /// The median of the days' rates; nil if no day has one.
    var usual: Double?
    /// The receipts of all those days together, for the test.
    var pooled: Rate
    var verdict: Significance

    /// How many more or fewer people than usual. It says which of two changes matters more.
    fileprivate var people: Double { ((rate.value ?? 0) - (usual ?? 0)) * Double(rate.whole) }
}

/// Which categories rose and fell by more than chance. The days are those that the headline compares with, told at the
/// same age.
enum MoversSection: ReportSection {
    static let title = "What rose and fell"

    static func read(into report: inout Report, _ scope: ReportScope, on connection: inout Connection)
        throws(PostgresError)
    {
        guard let base = report.headline.usual else { return }
        let step = scope.period.length
        let starts = [scope.firstDay] + (base.age == .now ? base.days : [])
        let all = starts.flatMap { start in (0..<step).map { start.advanced(by: $0) } }
        var counts: [ExactName: [CivilDate: FunnelCounts]] = [:]
        for row in try connection.query(
            """
            SELECT category, (day - \(scope.firstDay)) / \(Int32(step)), \(sql: FunnelCounts.sums)
            FROM analytics.category_funnel WHERE app = \(scope.app) AND day = ANY (\(all)) AND category IN (
                SELECT category FROM analytics.category_funnel
                WHERE app = \(scope.app) AND day BETWEEN \(scope.firstDay) AND \(scope.day)
                GROUP BY category ORDER BY sum(delivered) DESC, category COLLATE "C" LIMIT \(scope.bound.entries))
            GROUP BY 1, 2
            """)
        {
            let start = scope.firstDay.advanced(by: step * Int(try row.get(1, as: Int32.self)))
            counts[ExactName(try row.get(0)), default: [:]][start] = try FunnelCounts(row, from: 2)
        }
        if base.age == .same {
            for told in try ToldCounts.read(base.days, scope, of: .categories, on: &connection) {
                counts[ExactName(told.category ?? ""), default: [:]][told.day] = told.counts
            }
        }
        report.movers = counts.keys.sorted().compactMap { category in
            guard let own = counts[category]?[scope.firstDay] else { return nil }
            return Headline.Comparison(
                of: own, with: base.days.compactMap { day in counts[category]?[day].map { (day, $0) } }, age: base.age,
                areWeeks: base.areWeeks, isSettled: report.settling.isSettled,
                leadsWithEngagement: report.leadsWithEngagement
            ).map { Mover(category.text, own, against: $0) }
        }.sorted { ($1.delivered, ExactName($0.category)) < ($0.delivered, ExactName($1.category)) }
    }

    static func eachVerdict(_ report: inout Report, _ visit: (inout Significance) -> Void) {
        for place in report.movers.indices { visit(&report.movers[place].verdict) }
    }

    /// The category that lost most, and the one that won most.
    static func deeds(_ report: Report) -> [Deed] {
        let (rose, fell) = moved(report)
        // If the whole day fell, the headline says so, and names the category.
        let isTold = report.headline.usual?.leading.verdict.isLower == true
        return (isTold ? [] : fell.prefix(1)).map { mover in
            Deed(
                urgency: .fallen, deliveries: mover.delivered, ask: "Look for what changed in \(name(mover))",
                why: why(mover, report) + others(fell.count - 1, "fell"), section: title,
                subject: .category(mover.category))
        }
            + rose.prefix(1).map { mover in
                Deed(
                    urgency: .better, deliveries: mover.delivered, ask: "Find out what people like in \(name(mover))",
                    why: why(mover, report) + others(rose.count - 1, "rose"), section: title,
                    subject: .category(mover.category))
            }
    }

    private static func name(_ mover: Mover) -> String {
        Wording.name(mover.category, else: CategoriesSection.none)
    }

    /// `its response rate is 4.2 %, and a usual Friday has 6.1 %`
    private static func why(_ mover: Mover, _ report: Report) -> String {
        "its \(report.leadingRate) is \(Wording.percent(mover.rate)), and \(report.headline.usual?.name ?? "") has "
            + "\(Wording.percent(mover.usual))"
    }

    private static func others(_ count: Int, _ verb: String) -> String {
        count > 0 ? "; \(count) more \(verb)" : ""
    }

    /// The one that moved most people first.
    static func moved(_ report: Report) -> (rose: [Mover], fell: [Mover]) {
        let sorted = report.movers.sorted { abs($0.people) > abs($1.people) }
        return (sorted.filter(\.verdict.isHigher), sorted.filter(\.verdict.isLower))
    }

    static func words(_ report: Report) -> Page.Section? {
        guard !report.movers.isEmpty, let base = report.headline.usual else { return nil }
        let tested = report.movers.filter { $0.verdict.tested != nil }
        guard !tested.isEmpty else {
            let isEarly = report.movers.contains { $0.verdict == .unsettled }
            return Page.Section(
                title,
                [
                    .sentence(
                        isEarly
                            ? "It is too early to compare the categories with \(base.name): receipts still arrive, and "
                                + "those days were not reported at this age."
                            : "The categories cannot be compared with \(base.name): receipt coverage differs too much.",
                        .plain)
                ])
        }
        let (rose, fell) = moved(report)
        let number = Wording.count(Int64(tested.count), "category", "categories")
        guard !rose.isEmpty || !fell.isEmpty else {
            return Page.Section(
                title, [.sentence("None of \(number) differs from \(base.name) by more than chance.", .plain)])
        }
        let rate = report.leadsWithEngagement ? "Engagement rate" : "Response rate"
        let table = Table("Categories that differ from \(base.name) by more than chance", of: rose + fell) { mover in
            [
                .name(
                    "Category", mover.category, else: CategoriesSection.none,
                    tone: mover.verdict.isHigher ? .good : .alarm),
                .count("Received", mover.rate.whole), .bar(rate, mover.rate),
                .interval(mover.rate),
                .number("Usual", Wording.percent(mover.usual)),
                .number("Change", Wording.points(from: mover.usual ?? 0, to: mover.rate.value ?? 0)),
            ]
        }
        return Page.Section(
            title,
            [
                .table(table),
                .sentence(
                    "\(number) were compared. Of all differences in this report that are called more than chance, at "
                        + "most one in twenty is expected to be chance.", .note),
            ])
    }

    static func facts(_ report: Report) -> [EntryList] {
        .list("movers", report.movers) { mover in
            let interval = Interval.of(mover.rate)
            return Entry(
                keys: [.text("category", mover.category)],
                facts: [
                    .text("rate", report.leadsWithEngagement ? "engagement_rate" : "response_rate"),
                    .number("value", mover.rate.value), .number("value_low", interval?.lowerBound),
                    .number("value_high", interval?.upperBound), .number("usual", mover.usual),
                ] + mover.verdict.facts)
        }
    }
}

extension Mover {
    fileprivate init(_ category: String, _ counts: FunnelCounts, against base: Headline.Comparison) {
        let (rate, pooled) =
            base.engagement.map { (counts.engagementRate, $0.pooled) } ?? (counts.responseRate, base.pooled)
        self.init(
            category: category, delivered: counts.delivered, rate: rate, usual: base.leading.rate, pooled: pooled,
            verdict: base.leading.verdict)
    }
}

extension Report {
    /// The rate that the report leads with, in a sentence.
    var leadingRate: String { leadsWithEngagement ? "engagement rate" : "response rate" }
}
