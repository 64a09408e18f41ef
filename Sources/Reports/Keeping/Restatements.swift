internal import Postgres
internal import Telemetry

/// Which days that were told are something else now. Read in the snapshot of the report that says so.
struct Restatements {
    let app: String
    /// The day of the report. Only what reports of earlier days told counts, and of each day only the first that was made
    /// when the day was over: that is the one of its night. So a report that is made again restates the same days, and
    /// one that somebody makes by hand takes no change from the readers of the next night's.
    let day: CivilDate

    /// What the day itself is now, and the earlier days that have changed, the latest first.
    func read(on connection: inout Connection) throws(ReportError) -> (figures: DayFigures, restated: [Restatement]) {
        let (told, now) = try toldAndNow(on: &connection)
        let restated = told.compactMap { mention in
            let figures = now[mention.day] ?? DayFigures()
            return figures == mention.told
                ? nil : Restatement(day: mention.day, told: mention.told, toldAt: mention.position, now: figures)
        }
        return (now[day] ?? DayFigures(), restated)
    }

    private func toldAndNow(
        on connection: inout Connection
    ) throws(ReportError) -> (told: [Mention], now: [CivilDate: DayFigures]) {
        do throws(PostgresError) {
            let told = try lastTold(on: &connection)
            return (told, try figures(of: told.map(\.day) + [day], on: &connection))
        } catch { throw .database(error) }
    }

    private struct Mention {
        let day: CivilDate
        let position: Int64
        let told: DayFigures
    }

    /// The last word of the nights before this one on each earlier day.
    private func lastTold(on connection: inout Connection) throws(PostgresError) -> [Mention] {
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
        var told: [Mention] = []
        for row in rows {
            told.append(
                Mention(day: try row.get(0), position: try row.get(1), told: try DayFigures(row, from: 2)))
        }
        return told
    }

    /// What these days are now; a day without anything is not in it.
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

extension DayFigures {
    /// From eight columns of a row, in the order in which they are declared.
    fileprivate init(_ row: Rows.Row, from column: Int) throws(PostgresError) {
        self.init()
        delivered = try row.get(column)
        received = try row.get(column + 1)
        responded = try row.get(column + 2)
        receivedResponded = try row.get(column + 3)
        dismissed = try row.get(column + 4)
        stories = try row.get(column + 5)
        storiesCompleted = try row.get(column + 6)
        woken = try row.get(column + 7)
    }
}
