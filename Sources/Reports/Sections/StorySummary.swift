internal import Postgres
internal import Telemetry

/// The stories of one category and campaign on the day.
struct StorySummary: Hashable, Sendable {
    var category: String
    var campaign: String
    var stories: Int64
    var started: Int64
    var completed: Int64
    var exits: Exits
    var pages: [Page] = []
    /// What is wrong with the pages in the campaign's newest sends, in the order of those pages.
    var faults: [PageFault] = []

    var completionRate: Rate { Rate(completed, of: started) }

    struct Exits: Hashable, Sendable {
        var clicked: Int64
        var finished: Int64
        var fallback: Int64
        var abandoned: Int64
    }

    struct Page: Hashable, Sendable {
        /// From 0.
        var index: Int
        var planned: Int64
        var reached: Int64
        var shown: Int64
        var views: Int64
        var clicked: Int64
        var exited: Int64
        var dwellMilliseconds: Int64
        var dwells: Int64
        /// Title and duration from the newest send of the campaign that describes its pages.
        var title: String?
        var declaredMilliseconds: Int64?
        /// How often the next page came by itself, how often somebody moved on to it, and how often neither is known.
        var autoAdvances: Int64 = 0
        var manualAdvances: Int64 = 0
        var unexplainedAdvances: Int64 = 0

        var clickRate: Rate { Rate(clicked, of: shown) }
        /// The automatic share of the advances whose cause is known.
        var autoRate: Rate { Rate(autoAdvances, of: autoAdvances + manualAdvances) }
        var meanDwellSeconds: Double? { dwells == 0 ? nil : Double(dwellMilliseconds) / Double(dwells) / 1000 }
    }

    /// A page that was sent with a mistake.
    struct PageFault: Hashable, Sendable {
        /// From 0, among the pages as sent. Those without an image are not shown.
        var declaredIndex: Int
        var kind: Kind

        /// As `analytics.story_pages` says it.
        enum Kind: String, Hashable, Sendable, CaseIterable {
            case noImage = "no_image"
            case invalidLink = "invalid_link"
            case buttonWithoutLink = "button_without_link"
            case linkWithoutButton = "link_without_button"
        }
    }
}

extension StorySummary {
    static func read(_ scope: ReportScope, on connection: inout Connection) throws(PostgresError) -> [StorySummary] {
        var stories = try connection.query(
            """
            SELECT category, campaign, stories, started, completed, exit_clicked, exit_finished, exit_fallback,
                exit_abandoned
            FROM analytics.story_funnel WHERE app = \(scope.app) AND day = \(scope.day)
            ORDER BY stories DESC, category COLLATE "C", campaign COLLATE "C"
            """
        ).map { row throws(PostgresError) in
            StorySummary(
                category: try row.get(0), campaign: try row.get(1), stories: try row.get(2), started: try row.get(3),
                completed: try row.get(4),
                exits: Exits(
                    clicked: try row.get(5), finished: try row.get(6), fallback: try row.get(7),
                    abandoned: try row.get(8)))
        }
        let pages = try readPages(of: stories.prefix(mostWithPages), scope, on: &connection)
        let faults = try readFaults(of: stories.map(\.campaign), scope, on: &connection)
        for index in stories.indices {
            let (category, campaign) = (ExactName(stories[index].category), ExactName(stories[index].campaign))
            stories[index].pages = pages[[category, campaign]] ?? []
            stories[index].faults = faults[campaign] ?? []
        }
        return stories
    }

    /// Pages are read of so many stories, those that most people saw: an app may have thousands, of a thousand pages each.
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
            let page = Page(
                index: Int(try row.get(2, as: Int32.self)), planned: try row.get(3), reached: try row.get(4),
                shown: try row.get(5), views: try row.get(6), clicked: try row.get(7), exited: try row.get(8),
                dwellMilliseconds: try row.get(9), dwells: try row.get(10), title: try row.optional(11),
                declaredMilliseconds: try row.optional(12), autoAdvances: try row.optional(13) ?? 0,
                manualAdvances: try row.optional(14) ?? 0, unexplainedAdvances: try row.optional(15) ?? 0)
            pages[[ExactName(try row.get(0)), ExactName(try row.get(1))], default: []].append(page)
        }
        return pages
    }

    /// By campaign, from the newest sends of each.
    private static func readFaults(
        of campaigns: [String], _ scope: ReportScope, on connection: inout Connection
    ) throws(PostgresError) -> [ExactName: [PageFault]] {
        try connection.query(
            """
            SELECT DISTINCT campaign, declared_index::integer, fault FROM analytics.story_pages
            WHERE app = \(scope.app) AND campaign = ANY (\(campaigns)) AND fault IS NOT NULL ORDER BY declared_index::integer, fault
            """
        ).byName { row throws(PostgresError) -> PageFault? in
            guard let kind = PageFault.Kind(rawValue: try row.get(2)) else { return nil }
            return PageFault(declaredIndex: Int(try row.get(1, as: Int32.self)), kind: kind)
        }
        .mapValues { $0.compactMap(\.self) }
    }
}
