/// Per (app, day, category, campaign, page): where in a story people look, tap, turn and leave.
enum StoryPageFunnel: Projector {
    static let name = "story_page_funnel"
    static let version: Int32 = 2
    static let tables = [
        TallyTable(
            name, keys: keys,
            columns: [
                .count("planned", "Deliveries whose story has this page"),
                .count("reached", "Deliveries that came to this page or a later one"),
                .count("shown", "Deliveries that showed this page"),
                .count("views", "Times it was shown: a looping or re-wound story shows a page more than once"),
                .count("clicked", "Deliveries with a tap of its call to action"),
                .count("exited", "Deliveries that were left here: the furthest page of an abandoned story"),
                .count("dwell_ms", "Milliseconds that its views lasted together, those of dwells"),
                .count(
                    "dwells",
                    """
                    Views of which we know how long they lasted: until the next page, call to action or end, within 60 s and \
                    before the story starts anew
                    """),
                .count(
                    "auto_advances",
                    """
                    Times it turned to another page by itself: the events say so, or it stood for its declared duration, within \
                    0.4 s. Not where it stood for over 60 s
                    """),
                .count(
                    "manual_advances",
                    """
                    Times somebody turned it onwards: the events say so, or it stood for another time than its declared \
                    duration. Not where it stood for over 60 s
                    """),
            ], view: .byHand, recount: .init(pages, behind: "\(StoryFunnel.sameStory) AND d.pages > cell.page_index")),
        // Advances of which the events do not tell whether the page turned by itself, by how long it stood. In SQL the gap is
        // twice the whole tenths of a second, and one more where something is left over.
        TallyTable(
            "story_page_gaps",
            keys: keys + [
                .number("gap", "How long the page stood, in twentieths of a second: odd between whole tenths")
            ],
            columns: [.count("advances", "Advances of which the events do not tell whether the page turned by itself")],
            view: .none,
            recount: .init(
                """
                SELECT app, day, category, campaign, page_index, \(gap) AS gap, count(*) AS advances
                FROM recount_page JOIN recount_delivery USING (delivery) WHERE advance = 'untold'
                GROUP BY app, day, category, campaign, page_index, \(gap)
                """,
                behind: """
                    \(StoryFunnel.sameStory) AND EXISTS (
                        SELECT FROM recount_page JOIN recount_delivery AS r USING (delivery)
                        WHERE r.app = d.app AND r.install_id = d.install_id AND r.notification_key = d.notification_key
                            AND advance = 'untold' AND page_index = cell.page_index AND \(gap) = cell.gap)
                    """)),
    ]

    private static let keys: [TallyTable.Key] = [.category, .campaign, .number("page_index", "Page, from 0, as shown")]

    static func count(_ delivery: Delivery, _ weight: Int64, into tallies: inout [Tally]) {
        let facts = delivery.facts
        guard let story = facts.story, story.pages > 0 else { return }
        let furthest = Int(story.furthest ?? -1)
        let told = StoryPages(of: delivery.state, pages: story.pages)
        for (index, page) in told.pages.enumerated() {
            let hasExited = index == furthest && story.exit == .abandoned
            tallies[0].add(
                [
                    1, furthest >= index ? 1 : 0, page.views > 0 ? 1 : 0, page.views, page.isClicked ? 1 : 0,
                    hasExited ? 1 : 0, page.dwellMilliseconds, page.dwells, page.autoAdvances, page.manualAdvances,
                ], times: weight, at: [facts.attributes.category, facts.attributes.campaign, Int32(index), 0],
                of: delivery)
        }
        for advance in told.untoldAdvances {
            tallies[1].add(
                1 as UInt32, times: weight,
                at: [
                    facts.attributes.category, facts.attributes.campaign, Int32(advance.page), Int32(advance.gap),
                ], of: delivery)
        }
    }

    /// What pages were planned and reached the deliveries say; what was shown on them, their first 1,000 story events.
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
        ), shown AS (
            SELECT
                app, day, category, campaign, page_index,
                count(*) FILTER (WHERE views > 0) AS shown,
                sum(views)::bigint AS views,
                count(*) FILTER (WHERE clicked) AS clicked,
                coalesce(sum(dwell_ms), 0)::bigint AS dwell_ms,
                sum(dwells)::bigint AS dwells,
                sum(auto_advances)::bigint AS auto_advances,
                sum(manual_advances)::bigint AS manual_advances
            FROM paged JOIN recount_delivery USING (delivery) WHERE story_exit <> 0
            GROUP BY app, day, category, campaign, page_index
        ), alike AS (
            SELECT app, day, category, campaign, pages, furthest, story_exit, count(*) AS deliveries
            FROM recount_delivery WHERE pages > 0
            GROUP BY app, day, category, campaign, pages, furthest, story_exit
        ), planned AS (
            SELECT
                app, day, category, campaign, page_index::smallint AS page_index,
                sum(deliveries)::bigint AS planned,
                coalesce(sum(deliveries) FILTER (WHERE furthest >= page_index), 0)::bigint AS reached,
                coalesce(sum(deliveries) FILTER (WHERE furthest = page_index AND story_exit = 4), 0)::bigint AS exited
            FROM alike CROSS JOIN LATERAL generate_series(0, pages - 1) AS page_index
            GROUP BY app, day, category, campaign, page_index
        )
        SELECT
            app, day, category, campaign, page_index, planned, reached, coalesce(shown, 0) AS shown,
            coalesce(views, 0) AS views, coalesce(clicked, 0) AS clicked, exited, coalesce(dwell_ms, 0) AS dwell_ms,
            coalesce(dwells, 0) AS dwells, coalesce(auto_advances, 0) AS auto_advances,
            coalesce(manual_advances, 0) AS manual_advances
        FROM planned LEFT JOIN shown USING (app, day, category, campaign, page_index)
        """

    private static let gap = "(dwell / 100000 * 2 + CASE WHEN dwell % 100000 = 0 THEN 0 ELSE 1 END)::smallint"
}
