/// Per (app, day, category, campaign, variant, page): which pages of a story people see, tap, turn and leave at.
///
/// The number of pages of a delivery is stored only in the cell of its last page, and how far it got only in the cell
/// of the furthest page; the view sums both up from the end. So a delivery changes no more cells than it has events,
/// however many pages it claims to have.
enum StoryPageFunnel: Projector {
    static let name = "story_page_funnel"
    static let version: Int32 = 3
    static let tables = [
        TallyTable(
            name, keys: keys,
            columns: [
                .fromTheEnd("planned", of: "last", "Deliveries whose story has this page"),
                .fromTheEnd("reached", of: "furthest", "Deliveries that reached this page or a later one"),
                .count("shown", "Deliveries that showed this page"),
                .count("views", "Times it was shown: a looping or rewound story shows a page more than once"),
                .count("clicked", "Deliveries with a tap of its call to action"),
                .count("exited", "Deliveries that were left here: the furthest page of an abandoned story"),
                .count("dwell_ms", "Total duration of the views in dwells, in milliseconds"),
                .count(
                    "dwells",
                    """
                    Views with a known duration: until the next page, call to action or end, if that came within 60 s and before \
                    the story started again
                    """),
                .count(
                    "auto_advances",
                    """
                    Times the page turned by itself: the events say so, or it was shown for its declared duration, within 0.4 s. \
                    Pages that were shown for more than 60 s do not count
                    """),
                .count(
                    "manual_advances",
                    """
                    Times somebody turned the page forward: the events say so, or it was not shown for its declared duration. \
                    Pages that were shown for more than 60 s do not count
                    """),
            ], view: .byHand, recount: .init(pages, behind: "\(StoryFunnel.sameStory) AND d.pages > cell.page_index")),
        // Advances for which the events do not say whether the page turned by itself, by how long it was shown. In SQL
        // the gap is twice the number of whole tenths of a second, plus one if there is a remainder.
        TallyTable(
            "story_page_gaps",
            keys: keys + [
                .number("gap", "How long the page was shown, in twentieths of a second: odd between whole tenths")
            ],
            columns: [.count("advances", "Advances for which the events do not say whether the page turned by itself")],
            view: .none,
            recount: .init(
                """
                SELECT app, day, category, campaign, variant, page_index, \(gap) AS gap, count(*) AS advances
                FROM recount_page JOIN recount_delivery USING (delivery) WHERE advance = 'untold'
                GROUP BY app, day, category, campaign, variant, page_index, \(gap)
                """,
                behind: """
                    \(StoryFunnel.sameStory) AND EXISTS (
                        SELECT FROM recount_page JOIN recount_delivery AS r USING (delivery)
                        WHERE r.app = d.app AND r.install_id = d.install_id AND r.notification_key = d.notification_key
                            AND advance = 'untold' AND page_index = cell.page_index AND \(gap) = cell.gap)
                    """)),
    ]

    private static let keys: [TallyTable.Key] = [
        .category, .campaign, .variant, .number("page_index", "Index of the page among those shown, from 0"),
    ]

    static let counted = Counted(histograms: [
        .init(column: "gaps", table: "story_page_gaps", key: "gap", count: "advances")
    ])

    static func count(_ delivery: Delivery, _ weight: Int64, into tallies: inout [Tally]) {
        let facts = delivery.facts
        guard let story = facts.story, story.pages > 0 else { return }
        let attributes = facts.attributes
        let furthest = Int(story.furthest ?? -1)
        let told = StoryPages(of: delivery.state, pages: story.pages)
        for (index, page) in told.pages.enumerated() {
            let (isLast, isFurthest) = (index == told.pages.count - 1, index == furthest)
            guard isLast || isFurthest || page != StoryPages.Page() else { continue }
            tallies[0].add(
                [
                    isLast ? 1 : 0, isFurthest ? 1 : 0, page.views > 0 ? 1 : 0, page.views, page.isClicked ? 1 : 0,
                    isFurthest && story.exit == .abandoned ? 1 : 0, page.dwellMilliseconds, page.dwells,
                    page.autoAdvances, page.manualAdvances,
                ], times: weight,
                at: Tally.Keys(attributes.category, attributes.campaign, attributes.variant, Int32(index)),
                of: delivery)
        }
        for advance in told.untoldAdvances {
            tallies[1].add(
                1 as UInt32, times: weight,
                at: Tally.Keys(
                    attributes.category, attributes.campaign, attributes.variant, Int32(advance.page),
                    Int32(advance.gap)),
                of: delivery)
        }
    }

    /// The length of a story and how far its reader got come from the deliveries; what happened on its pages comes from
    /// their first 1,000 story events.
    private static let pages = """
        WITH paged AS (
            SELECT
                delivery, page_index,
                count(*) FILTER (WHERE type = 7) AS views,
                bool_or(type = 8) AS clicked,
                sum(dwell / 1000) AS dwell_ms,
                count(dwell) AS dwells,
                count(*) FILTER (WHERE advance = 'auto') AS auto_advances,
                count(*) FILTER (WHERE advance = 'manual') AS manual_advances
            FROM recount_page GROUP BY delivery, page_index
        ), counted AS (
            SELECT
                app, day, category, campaign, variant, page_index, 0 AS last, 0 AS furthest, CASE WHEN views > 0 THEN 1 ELSE 0 END AS shown,
                views, CASE WHEN clicked THEN 1 ELSE 0 END AS clicked, 0 AS exited, coalesce(dwell_ms, 0) AS dwell_ms, dwells,
                auto_advances, manual_advances
            FROM paged JOIN recount_delivery USING (delivery) WHERE story_exit <> 0
            UNION ALL
            SELECT app, day, category, campaign, variant, pages - 1, count(*), 0, 0, 0, 0, 0, 0, 0, 0, 0
            FROM recount_delivery WHERE pages > 0
            GROUP BY app, day, category, campaign, variant, pages
            UNION ALL
            SELECT
                app, day, category, campaign, variant, furthest, 0, count(*), 0, 0, 0, count(*) FILTER (WHERE story_exit = 4), 0, 0, 0, 0
            FROM recount_delivery WHERE pages > 0 AND furthest >= 0
            GROUP BY app, day, category, campaign, variant, furthest
        )
        SELECT
            app, day, category, campaign, variant, page_index::smallint AS page_index, sum(last)::bigint AS last,
            sum(furthest)::bigint AS furthest, sum(shown)::bigint AS shown, sum(views)::bigint AS views,
            sum(clicked)::bigint AS clicked, sum(exited)::bigint AS exited, sum(dwell_ms)::bigint AS dwell_ms,
            sum(dwells)::bigint AS dwells, sum(auto_advances)::bigint AS auto_advances,
            sum(manual_advances)::bigint AS manual_advances
        FROM counted GROUP BY app, day, category, campaign, variant, page_index
        """

    private static let gap = "(dwell / 100000 * 2 + CASE WHEN dwell % 100000 = 0 THEN 0 ELSE 1 END)::smallint"
}
