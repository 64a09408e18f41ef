internal import Postgres
internal import Telemetry

extension StorySummary {
    static func read(_ scope: ReportScope, on connection: inout Connection) throws(PostgresError) -> [StorySummary] {
        let rows = try connection.query(
            """
            SELECT category, campaign, stories, started, completed, exit_clicked, exit_finished, exit_fallback,
                exit_abandoned
            FROM analytics.story_funnel WHERE app = \(scope.app) AND day = \(scope.day)
            ORDER BY stories DESC, category COLLATE "C", campaign COLLATE "C"
            """)
        var stories: [StorySummary] = []
        for row in rows {
            let story = StorySummary(
                category: try row.get(0), campaign: try row.get(1), stories: try row.get(2), started: try row.get(3),
                completed: try row.get(4),
                exits: Exits(
                    clicked: try row.get(5), finished: try row.get(6), fallback: try row.get(7),
                    abandoned: try row.get(8)))
            stories.append(story)
        }
        let pages = try readPages(of: stories.prefix(mostWithPages), scope, on: &connection)
        for place in stories.indices {
            stories[place].pages =
                pages[[ExactName(stories[place].category), ExactName(stories[place].campaign)]] ?? []
        }
        let faults = try readFaults(of: stories.map(\.campaign), scope, on: &connection)
        for place in stories.indices { stories[place].faults = faults[ExactName(stories[place].campaign)] ?? [] }
        return stories
    }

    /// Of so many stories, those that most people saw, pages are read: an app may have thousands, of a thousand pages each.
    private static let mostWithPages = 50

    /// By category and campaign.
    private static func readPages(
        of stories: ArraySlice<StorySummary>, _ scope: ReportScope, on connection: inout Connection
    ) throws(PostgresError) -> [[ExactName]: [Page]] {
        let rows = try connection.query(
            """
            SELECT category, campaign, page_index::integer, planned, reached, shown, views, clicked, exited, dwell_ms,
                dwells, page_title, declared_ms::bigint, auto_advances::bigint, manual_advances::bigint,
                unexplained_advances::bigint
            FROM analytics.story_page_funnel WHERE app = \(scope.app) AND day = \(scope.day)
                AND (category, campaign) IN (
                    SELECT * FROM unnest(\(stories.map(\.category)), \(stories.map(\.campaign))))
            ORDER BY page_index
            """)
        var pages: [[ExactName]: [Page]] = [:]
        for row in rows {
            var page = Page(
                index: Int(try row.get(2, as: Int32.self)), planned: try row.get(3), reached: try row.get(4),
                shown: try row.get(5), views: try row.get(6), clicked: try row.get(7), exited: try row.get(8),
                dwellMilliseconds: try row.get(9), dwells: try row.get(10))
            page.title = try row.optional(11)
            page.declaredMilliseconds = try row.optional(12)
            page.autoAdvances = try row.optional(13) ?? 0
            page.manualAdvances = try row.optional(14) ?? 0
            page.unexplainedAdvances = try row.optional(15) ?? 0
            pages[[ExactName(try row.get(0)), ExactName(try row.get(1))], default: []].append(page)
        }
        return pages
    }

    /// Of the newest sends of each campaign.
    private static func readFaults(
        of campaigns: [String], _ scope: ReportScope, on connection: inout Connection
    ) throws(PostgresError) -> [ExactName: [PageFault]] {
        let rows = try connection.query(
            """
            SELECT DISTINCT campaign, declared_index::integer, fault FROM analytics.story_pages
            WHERE app = \(scope.app) AND campaign = ANY (\(campaigns)) AND fault IS NOT NULL ORDER BY declared_index::integer, fault
            """)
        var faults: [ExactName: [PageFault]] = [:]
        for row in rows {
            guard let kind = PageFault.Kind(rawValue: try row.get(2)) else { continue }
            faults[ExactName(try row.get(0)), default: []].append(
                PageFault(declaredIndex: Int(try row.get(1, as: Int32.self)), kind: kind))
        }
        return faults
    }
}
