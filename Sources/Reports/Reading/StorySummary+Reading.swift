internal import Postgres
internal import Telemetry

extension StorySummary {
    static func read(_ scope: ReportScope, on connection: inout Connection) throws(PostgresError) -> [StorySummary] {
        let pages = try readPages(scope, on: &connection)
        let rows = try connection.query(
            """
            SELECT category, campaign, stories, started, completed, exit_clicked, exit_finished, exit_fallback,
                exit_abandoned
            FROM analytics.story_funnel WHERE app = \(scope.app) AND day = \(scope.day)
            ORDER BY stories DESC, category COLLATE "C", campaign COLLATE "C"
            """)
        var stories: [StorySummary] = []
        for row in rows {
            var story = StorySummary(
                category: try row.get(0), campaign: try row.get(1), stories: try row.get(2), started: try row.get(3),
                completed: try row.get(4),
                exits: Exits(
                    clicked: try row.get(5), finished: try row.get(6), fallback: try row.get(7),
                    abandoned: try row.get(8)))
            story.pages = pages[[ExactName(story.category), ExactName(story.campaign)]] ?? []
            stories.append(story)
        }
        return stories
    }

    /// By category and campaign.
    private static func readPages(
        _ scope: ReportScope, on connection: inout Connection
    ) throws(PostgresError) -> [[ExactName]: [Page]] {
        let rows = try connection.query(
            """
            SELECT category, campaign, page_index::integer, planned, reached, shown, views, clicked, exited, dwell_ms,
                dwells
            FROM analytics.story_page_funnel WHERE app = \(scope.app) AND day = \(scope.day) ORDER BY page_index
            """)
        var pages: [[ExactName]: [Page]] = [:]
        for row in rows {
            let page = Page(
                index: Int(try row.get(2, as: Int32.self)), planned: try row.get(3), reached: try row.get(4),
                shown: try row.get(5), views: try row.get(6), clicked: try row.get(7), exited: try row.get(8),
                dwellMilliseconds: try row.get(9), dwells: try row.get(10))
            pages[[ExactName(try row.get(0)), ExactName(try row.get(1))], default: []].append(page)
        }
        return pages
    }
}
