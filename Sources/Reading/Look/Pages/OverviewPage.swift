internal import Postgres
internal import Reports
internal import Values

/// Every app: how much it sends and what comes of it.
enum OverviewPage {
    static func read(_ state: PageState, _ scope: Scope, on connection: inout Connection) throws(PostgresError) -> Sight
    {
        var sight = Sight("All apps", lead: "Push notifications of every app, \(scope.days).", state, scope)
        var apps = Listing(
            "apps", "Apps, those with the most deliveries first",
            """
            SELECT app, time_zone, delivered, received, receipt_coverage, response_rate, engagement_rate, by_day
            FROM analytics.apps
            LEFT JOIN (
                SELECT app, \(FunnelSQL.sums),
                    \(FunnelSQL.byDay)
                FROM (
                    SELECT app, day, sum(delivered) AS delivered, sum(received) AS received,
                        sum(received_responded) AS received_responded, sum(received_engaged) AS received_engaged
                    FROM analytics.category_funnel WHERE \(FunnelSQL.during(scope.days)) GROUP BY app, day
                ) AS daily GROUP BY app
            ) AS f USING (app)
            ORDER BY delivered DESC NULLS LAST, app
            """)
        apps.most = 50
        apps.bars = ["engagement_rate"]
        apps.spark = "delivered"
        apps.none = "There is no app yet. Make one: bellwether app create SLUG"
        apps.link = { row, column in
            guard column == "app", let app = row.text("app") else { return nil }
            var page = state.turned(to: .app)
            page.app = app
            return page
        }
        sight.add("Apps", [.answer(try connection.answer(apps, for: state))])
        return sight
    }
}
