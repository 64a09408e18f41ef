internal import Postgres
internal import Telemetry
internal import Values

/// A day that has changed since it was reported.
struct Restatement: Hashable, Sendable {
    var day: CivilDate
    /// What the last report before this one said, and its position in the log.
    var told: DayFigures
    var toldAt: Int64
    var now: DayFigures
}

/// The figures of a day that later reports compare.
struct DayFigures: Hashable, Sendable {
    var delivered: Int64 = 0
    var received: Int64 = 0
    var responded: Int64 = 0
    var receivedResponded: Int64 = 0
    var dismissed: Int64 = 0
    var stories: Int64 = 0
    var storiesCompleted: Int64 = 0
    var woken: Int64 = 0

    var responseRate: Rate { Rate(receivedResponded, of: received) }

    fileprivate var facts: [Fact] {
        [
            .count("delivered", delivered), .count("received", received), .count("responded", responded),
            .count("received_responded", receivedResponded), .count("dismissed", dismissed),
            .count("stories", stories), .count("stories_completed", storiesCompleted), .count("woken", woken),
            .number("response_rate", responseRate.value),
        ]
    }
}

extension DayFigures {
    /// From eight columns of a row, in the order in which they are declared.
    fileprivate init(_ row: Rows.Row, from column: Int) throws(PostgresError) {
        func next(_ index: Int) throws(PostgresError) -> Int64 { try row.get(column + index) }
        self.init(
            delivered: try next(0), received: try next(1), responded: try next(2), receivedResponded: try next(3),
            dismissed: try next(4), stories: try next(5), storiesCompleted: try next(6), woken: try next(7))
    }
}

/// Finds the reported days whose figures are different now. It reads in the snapshot of the report that says so.
struct Restatements {
    let app: String
    /// The day of the report. Only reports of earlier days count, and of each day only the first that was made when the
    /// day was over, which is that of its night. So a report that is made again restates the same days, and one that
    /// somebody makes by hand hides no change from the readers of the next night's.
    let day: CivilDate

    /// The present figures of the day itself, and the earlier days that have changed, the latest first.
    func read(on connection: inout Connection) throws(ReportError) -> (figures: DayFigures, restated: [Restatement]) {
        do throws(PostgresError) {
            let told = try lastTold(on: &connection)
            let now = try figures(of: told.map(\.day) + [day], on: &connection)
            let restated = told.map { day, position, told in
                Restatement(day: day, told: told, toldAt: position, now: now[day] ?? DayFigures())
            }
            return (now[day] ?? DayFigures(), restated.filter { $0.now != $0.told })
        } catch { throw .database(error) }
    }

    /// What the last of the nights before this one said of each earlier day.
    private func lastTold(
        on connection: inout Connection
    ) throws(PostgresError) -> [(day: CivilDate, position: Int64, told: DayFigures)] {
        let rows = try connection.query(
            """
            WITH night AS (
                SELECT DISTINCT ON (day) id, day, position FROM report.kept
                WHERE app = \(app) AND day < \(day) AND is_final ORDER BY day, id
            )
            SELECT DISTINCT ON (told.day) told.day, night.position, told.delivered, told.received, told.responded,
                told.received_responded, told.dismissed, told.stories, told.stories_completed, told.woken
            FROM night JOIN report.told ON told.report = night.id
            ORDER BY told.day DESC, night.day DESC
            """)
        return try rows.map { row throws(PostgresError) in
            (try row.get(0), try row.get(1), try DayFigures(row, from: 2))
        }
    }

    /// The present figures of these days. Days without any event are missing.
    private func figures(
        of days: [CivilDate], on connection: inout Connection
    ) throws(PostgresError) -> [CivilDate: DayFigures] {
        let rows = try connection.query(
            """
            SELECT day, sum(delivered)::bigint, sum(received)::bigint, sum(responded)::bigint,
                sum(received_responded)::bigint, sum(dismissed)::bigint, sum(stories)::bigint,
                sum(completed)::bigint, sum(woken)::bigint
            FROM (
                SELECT day, delivered, received, responded, received_responded, dismissed, 0 AS stories,
                    0 AS completed, 0 AS woken
                FROM analytics.category_funnel WHERE app = \(app) AND day = ANY (\(days))
                UNION ALL
                SELECT day, 0, 0, 0, 0, 0, stories, completed, 0
                FROM analytics.story_funnel WHERE app = \(app) AND day = ANY (\(days))
                UNION ALL
                SELECT day, 0, 0, 0, 0, 0, 0, 0, woken
                FROM analytics.silent_funnel WHERE app = \(app) AND day = ANY (\(days))
            ) AS part
            GROUP BY day
            """)
        var figures: [CivilDate: DayFigures] = [:]
        for row in rows { figures[try row.get(0)] = try DayFigures(row, from: 1) }
        return figures
    }
}

/// Earlier days that have changed since they were reported. `Reporter` reads them, since they come from kept reports.
enum EarlierDaysSection: ReportSection {
    static func words(_ report: Report) -> Page.Section? {
        guard !report.restated.isEmpty else { return nil }
        let table = Table(
            "Changed since they were reported: mostly by late events, also by an erasure or a new time zone",
            of: report.restated.flatMap(rows), most: 2 * Table.mostRows
        ) { $0 }
        return Page.Section("Earlier days that changed", [.table(table)])
    }

    static func facts(_ report: Report) -> [EntryList] {
        .list("restated", report.restated) { restated in
            Entry(
                keys: [.text("day", restated.day.description)],
                facts: [
                    .count("told_at", restated.toldAt), .facts("told", restated.told.facts),
                    .facts("now", restated.now.facts),
                ])
        }
    }

    /// A row for each figure that differs.
    private static func rows(_ restated: Restatement) -> [[Table.Field]] {
        let (told, now) = (restated.told, restated.now)
        func row(_ what: String, _ told: String, _ now: String, _ change: String) -> [Table.Field] {
            [
                .text("Day", Wording.brief(restated.day)), .text("Figure", what), .number("Reported", told),
                .number("Now", now), .number("Change", change),
            ]
        }
        let counts: [(String, KeyPath<DayFigures, Int64>)] = [
            ("deliveries", \.delivered), ("received", \.received), ("responded", \.responded),
            ("dismissed", \.dismissed), ("stories", \.stories), ("stories completed", \.storiesCompleted),
            ("silent pushes", \.woken),
        ]
        var rows = counts.filter { told[keyPath: $1] != now[keyPath: $1] }.map { what, path in
            let change = now[keyPath: path] - told[keyPath: path]
            return row(
                what, Wording.count(told[keyPath: path]), Wording.count(now[keyPath: path]),
                (change > 0 ? "+" : "") + Wording.count(change))
        }
        let (before, after) = (Wording.percent(told.responseRate), Wording.percent(now.responseRate))
        if before != after {
            var change = "–"
            if let before = told.responseRate.value, let after = now.responseRate.value {
                change = Wording.points(from: before, to: after)
            }
            rows.append(row("response rate", before, after, change))
        }
        return rows
    }
}
