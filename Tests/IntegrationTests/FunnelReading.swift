import Postgres
import Projections
import TestSupport

/// What an analyst sees of all funnels in one snapshot, and which laws it breaks.
struct FunnelReading: Equatable {
    /// A line for each law that does not hold.
    let broken: [String]
    /// Deliveries that are not silent.
    let delivered: Int64
    let silent: Int64

    /// Opens a snapshot of its own.
    init(on connection: inout Connection) throws {
        self = try connection.transaction(.repeatableReadOnly) { connection throws(PostgresError) in
            try FunnelReading(within: &connection)
        }
    }

    /// In the snapshot that is open.
    init(within connection: inout Connection) throws(PostgresError) {
        var broken: [String] = []
        for query in Self.laws {
            for row in try connection.query(Statement(query)) { broken.append(try row.get(0)) }
        }
        let sums = TallyTable.ofDeliveryCounts.map {
            "(SELECT coalesce(sum(delivered), 0)::bigint FROM analytics.\($0.name))"
        }.joined(separator: ", ")
        let query: String = """
            SELECT count(*) FILTER (WHERE NOT silent), count(*) FILTER (WHERE silent),
                ARRAY[\(sums)],
                (SELECT coalesce(sum(woken), 0)::bigint FROM analytics.silent_funnel)
            FROM analytics.deliveries
            """
        let row = try connection.query(Statement(query))[0]
        (delivered, silent) = (try row.get(0), try row.get(1))
        let (counts, woken): ([Int64], Int64) = (try row.get(2), try row.get(3))
        if Set(counts) != [delivered] { broken.append("\(delivered) deliveries, and the funnels count \(counts)") }
        if woken != silent { broken.append("\(silent) silent deliveries, and their funnel counts \(woken)") }
        self.broken = broken
    }

    /// Each gives a line for every row that breaks a law. A funnel is first of all the sum of the deliveries which stand
    /// beside it in the same snapshot.
    private static let laws =
        TallyTable.ofDeliveryCounts.map { counts($0.name, by: $0.keys.map(\.name)) }
        + [actions, stories, pages, silent, media]

    private static func counts(_ view: String, by keys: [String]) -> String {
        let columns = [
            "received", "expanded", "opened", "action_tapped", "story_action_tapped", "responded",
            "received_responded", "dismissed", "unanswered", "suppressed", "media_attached",
        ]
        let key = (["app", "day"] + keys).joined(separator: ", ")
        let told = columns.map { "count(*) FILTER (WHERE \($0)) AS \($0)" }.joined(separator: ", ")
        return """
            SELECT '\(view): ' || coalesce(f::text, told::text) FROM (
                SELECT \(key), count(*) AS delivered, \(told),
                    count(*) FILTER (WHERE dismissed AND NOT responded) AS only_dismissed
                FROM analytics.deliveries WHERE NOT silent GROUP BY \(key)
            ) AS told FULL JOIN analytics.\(view) AS f USING (\(key))
            WHERE (f.delivered = told.delivered
                AND \(columns.map { "f.\($0) = told.\($0)" }.joined(separator: " AND "))
                AND f.delivered = f.received + f.inferred AND f.inferred >= 0
                AND f.received_responded <= least(f.received, f.responded)
                AND f.responded >= greatest(f.opened, f.action_tapped, f.story_action_tapped)
                AND f.suppressed <= f.unanswered
                AND f.responded + told.only_dismissed + f.unanswered = f.delivered) IS NOT TRUE
            """
    }

    private static let actions = """
        SELECT 'category_actions: ' || a::text FROM analytics.category_actions AS a
        LEFT JOIN analytics.category_funnel AS f USING (app, day, category)
        WHERE (0 < a.tapped_deliveries AND a.tapped_deliveries <= f.action_tapped AND a.tapped_deliveries <= a.taps
            AND a.foreground_taps BETWEEN 0 AND a.taps AND a.timed BETWEEN 0 AND a.tapped_deliveries
            AND (a.median_seconds IS NULL) = (a.timed = 0)) IS NOT TRUE
        """

    private static let stories = """
        SELECT 'story_funnel: ' || coalesce(f::text, told::text) FROM (
            SELECT app, day, category, campaign, count(*) AS stories,
                count(*) FILTER (WHERE story_started) AS started, count(*) FILTER (WHERE story_finished) AS completed,
                count(*) FILTER (WHERE story_exit = 'clicked') AS clicked,
                count(*) FILTER (WHERE story_exit = 'finished') AS finished,
                count(*) FILTER (WHERE story_exit = 'fallback') AS fallback,
                count(*) FILTER (WHERE story_exit = 'abandoned') AS abandoned
            FROM analytics.deliveries WHERE story_exit IS NOT NULL GROUP BY app, day, category, campaign
        ) AS told FULL JOIN analytics.story_funnel AS f USING (app, day, category, campaign)
        WHERE (f.stories = told.stories AND f.started = told.started AND f.completed = told.completed
            AND f.exit_clicked = told.clicked AND f.exit_finished = told.finished AND f.exit_fallback = told.fallback
            AND f.exit_abandoned = told.abandoned
            AND f.exit_clicked + f.exit_finished + f.exit_fallback + f.exit_abandoned = f.stories) IS NOT TRUE
        """

    private static let pages = """
        SELECT 'story_page_funnel: ' || coalesce(f::text, told::text) FROM (
            SELECT app, day, category, campaign, page_index, count(*) AS planned,
                count(*) FILTER (WHERE furthest >= page_index) AS reached,
                count(*) FILTER (WHERE furthest = page_index AND story_exit = 'abandoned') AS exited
            FROM analytics.deliveries CROSS JOIN LATERAL generate_series(0, pages - 1) AS page_index
            WHERE story_exit IS NOT NULL GROUP BY app, day, category, campaign, page_index
        ) AS told FULL JOIN (
            SELECT *, lag(planned) OVER story AS more_planned, lag(reached) OVER story AS more_reached
            FROM analytics.story_page_funnel
            WINDOW story AS (PARTITION BY app, day, category, campaign ORDER BY page_index)
        ) AS f USING (app, day, category, campaign, page_index)
        WHERE (f.planned = told.planned AND f.reached = told.reached AND f.exited = told.exited
            AND f.planned >= f.reached AND f.reached >= f.shown AND f.views >= f.shown AND f.dwells <= f.views
            AND f.dwell_ms BETWEEN 0 AND 60000 * f.dwells AND f.clicked <= f.reached
            AND f.planned <= coalesce(f.more_planned, f.planned)
            AND f.reached <= coalesce(f.more_reached, f.reached)) IS NOT TRUE
        """

    private static let silent = """
        SELECT 'silent_funnel: ' || coalesce(f::text, told::text) FROM (
            SELECT app, day, campaign, count(*) AS woken,
                count(*) FILTER (WHERE fetch_result = 'new_data') AS new_data,
                count(*) FILTER (WHERE fetch_result = 'no_data') AS no_data,
                count(*) FILTER (WHERE fetch_result = 'failed') AS failed,
                count(*) FILTER (WHERE fetch_result IS NULL) AS no_result
            FROM analytics.deliveries WHERE silent GROUP BY app, day, campaign
        ) AS told FULL JOIN analytics.silent_funnel AS f USING (app, day, campaign)
        WHERE (f.woken = told.woken AND f.new_data = told.new_data AND f.no_data = told.no_data
            AND f.failed = told.failed AND f.no_result = told.no_result) IS NOT TRUE
        """

    private static let media = """
        SELECT 'media_funnel: ' || coalesce(f::text, told::text) FROM (
            SELECT app, day, category, media_kind AS kind, media_network AS network, media_outcome AS outcome,
                count(*) AS deliveries, count(*) FILTER (WHERE responded) AS responded
            FROM analytics.deliveries WHERE NOT silent AND media_outcome <> '' GROUP BY 1, 2, 3, 4, 5, 6
        ) AS told FULL JOIN analytics.media_funnel AS f USING (app, day, category, kind, network, outcome)
        WHERE (f.deliveries = told.deliveries AND f.responded = told.responded) IS NOT TRUE
        """
}
