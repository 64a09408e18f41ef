internal import Postgres
internal import Telemetry
internal import Values

/// How people responded to the largest categories in each quarter of a day, by the time of the receipt.
///
/// The quarters are fixed: a stretch that is chosen because it stands out would always stand out. Each category is
/// compared with itself: what is sent in the morning differs from what is sent at night, and all categories together
/// would only tell that.
struct TimeOfDay: Hashable, Sendable {
    /// The latest day that has settled: before that, an evening has had less time to respond than a morning.
    var day: CivilDate
    var quarters: [Quarter]

    struct Quarter: Hashable, Sendable {
        var category: String
        /// The first hour of it.
        var hour: Int
        var response: Rate
        /// Of the category's other quarters together.
        var others: Rate
        /// Against the others.
        var verdict: Significance

        /// Whether the difference is more than chance, and large enough that somebody would send at another hour.
        var differs: Bool {
            guard verdict.isHigher || verdict.isLower, let own = response.value, let other = others.value else {
                return false
            }
            return abs(own - other) >= Quarter.leastDifference
        }
        private static let leastDifference = 0.02
        static let hours = 6
    }

    /// How many days before the report's a settled day may lie.
    static let mostDaysBack = 7
    static let mostCategories: Int64 = 5

    /// Of each category its four quarters, or those with a receipt.
    init(_ day: CivilDate, _ told: [(category: String, quarter: Int, response: Rate)]) {
        self.day = day
        let all = Dictionary(grouping: told) { ExactName($0.category) }.mapValues {
            $0.map(\.response).reduce(Rate(0, of: 0), +)
        }
        let compared = told.map { category, quarter, own in
            let whole = all[ExactName(category)] ?? own
            let others = Rate(whole.part - own.part, of: whole.whole - own.whole)
            return Quarter(
                category: category, hour: quarter * Quarter.hours, response: own, others: others,
                verdict: min(own.whole, others.whole) < VariantTest.leastReceived
                    ? .smallSample : TwoProportions.verdict(own, against: others))
        }
        // Of twenty comparisons a day one would often succeed by chance.
        let corrected = VariantTest.holm(compared.map(\.verdict.probability))
        quarters = zip(compared, corrected).map { quarter, p in
            var held = quarter
            if let p { held.verdict = quarter.verdict.with(p) }
            return held
        }
    }
}

extension Significance {
    /// Nil where the test says nothing.
    fileprivate var probability: Double? {
        switch self {
        case .higher(let p), .lower(let p), .likeChance(let p): p
        case .smallSample, .unsettled, .divided, .otherCoverage, .beyondWhole: nil
        }
    }

    /// The result with a corrected probability. A large one means chance.
    fileprivate func with(_ p: Double) -> Significance {
        if p >= TwoProportions.significance { return .likeChance(p: p) }
        return isHigher ? .higher(p: p) : .lower(p: p)
    }
}

/// Stands near the top, and only if the response to a category differs.
enum TimeOfDaySection: ReportSection {
    static func read(into report: inout Report, _ scope: ReportScope, on connection: inout Connection)
        throws(PostgresError)
    {
        guard !report.isSealed else { return }
        let day = report.settling.isSettled ? scope.day : report.settling.lastSettledDay(upTo: scope.day)
        guard day >= scope.day.advanced(by: -TimeOfDay.mostDaysBack) else { return }
        let rows = try connection.query(
            """
            WITH part AS (
                SELECT
                    category,
                    extract(hour FROM received_at AT TIME ZONE \(scope.timeZone))::integer
                        / \(Int32(TimeOfDay.Quarter.hours)) AS quarter,
                    count(*) FILTER (WHERE received_responded) AS responded, count(*) AS received
                FROM analytics.deliveries
                WHERE app = \(scope.app) AND day = \(day) AND NOT silent AND received GROUP BY 1, 2
            ), largest AS (
                SELECT category, sum(received) AS received FROM part
                GROUP BY category ORDER BY 2 DESC, category COLLATE "C" LIMIT \(TimeOfDay.mostCategories)
            )
            SELECT category, quarter, part.responded, part.received FROM largest JOIN part USING (category)
            ORDER BY largest.received DESC, category COLLATE "C", quarter
            """)
        let told = try rows.map { row throws(PostgresError) in
            (
                category: try row.get(0, as: String.self), quarter: Int(try row.get(1, as: Int32.self)),
                response: Rate(try row.get(2), of: try row.get(3))
            )
        }
        report.timeOfDay = told.isEmpty ? nil : TimeOfDay(day, told)
    }

    static func eachVerdict(_ report: inout Report, _ visit: (inout Significance) -> Void) {
        guard var told = report.timeOfDay else { return }
        for place in told.quarters.indices { visit(&told.quarters[place].verdict) }
        report.timeOfDay = told
    }

    /// More would not be a first page. The largest categories stand first.
    private static let mostSentences = 4

    static func words(_ report: Report) -> Page.Section? {
        guard let told = report.timeOfDay else { return nil }
        let sentences = told.quarters.filter(\.differs).prefix(mostSentences).map { quarter in
            Block.sentence(
                "\(Wording.name(quarter.category, else: CategoriesSection.none)) from \(clock(quarter.hour)) to "
                    + "\(clock(quarter.hour + TimeOfDay.Quarter.hours)): \(Wording.percent(quarter.response)) of "
                    + "\(Wording.count(quarter.response.whole)) responded, and \(Wording.percent(quarter.others)) of "
                    + "\(Wording.count(quarter.others.whole)) in the rest of the day. \(quarter.verdict.sentence)",
                .plain)
        }
        guard !sentences.isEmpty else { return nil }
        let which = told.day == report.day ? "" : " on \(Wording.brief(told.day)), the last day that has settled"
        return Page.Section(
            "Time of day",
            sentences + [
                .sentence(
                    "By the time of the receipt\(which), \(report.timeZone) time. Of one day: "
                        + "other campaigns can be the reason, too.",
                    .note)
            ])
    }

    private static func clock(_ hour: Int) -> String { "\(String(hour, digits: 2)):00" }

    static func facts(_ report: Report) -> [EntryList] {
        .list("time_of_day", report.timeOfDay?.quarters ?? []) { quarter in
            Entry(
                keys: [.text("category", quarter.category), .count("from_hour", quarter.hour)],
                facts: [
                    .text("day", report.timeOfDay?.day.description),
                    .count("to_hour", quarter.hour + TimeOfDay.Quarter.hours),
                ] + quarter.response.asResponse + quarter.verdict.facts)
        }
    }
}
