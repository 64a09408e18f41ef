internal import EventLog

extension RecountTables {
    /// The days of installs, from all events of the shard but those of sealed days. Events of a day come in event
    /// order, and `rank` continues from day to day. What the last of them says is the greatest (rank, something),
    /// packed into one number. Of the receipts in a quarter of an hour the last 8 count. They are looked for only where
    /// notifications were turned off, which is rare: so what is ranked is read twice rather than kept. Installs are
    /// joined by a number with a secret in it, since ids that clients choose may all have one hash.
    static func installDays(shard: Int16, of copy: LogCopy, exceptSealed: Bool) -> String {
        let sealed = """
            WHERE NOT EXISTS (
                SELECT FROM projection.sealed_install_day AS s
                WHERE s.shard = \(shard) AND \(copy.scatter.isSameInstall("s", "e")) AND s.app = e.app
                    AND s.install_id = e.install_id AND e.occurred_at >= s.from_at AND e.occurred_at < s.to_at)
            """
        return """
            WITH ranked AS NOT MATERIALIZED (
                SELECT e.app, e.install_id, e.occurred_at, e.type, e.via, e.alert, e.category, e.campaign, e.previous,
                    e.platform, e.app_version, e.os_version, e.device_model, e.locale, e.time_zone,
                    e."authorization", e.reach,
                    (e.occurred_at AT TIME ZONE app.time_zone)::date AS day,
                    row_number() OVER (
                        ORDER BY e.install_id, e.app, e.occurred_at, e.seq, e.event_id, e.device_at) << 32 AS rank
                FROM recount_log AS e JOIN log.app AS app ON app.id = e.app
                \(exceptSealed ? sealed : "")
            ), told AS MATERIALIZED (
                SELECT app, install_id, day, min(occurred_at) AS first_at, max(occurred_at) AS last_at,
                    max(rank | platform) AS platform, max(rank | app_version) AS app_version,
                    max(rank | os_version) AS os_version, max(rank | device_model) AS device_model,
                    max(rank | locale) AS locale, max(rank | time_zone) AS time_zone,
                    max(rank | "authorization") AS "authorization", max(rank | reach) AS reach,
                    min(rank) FILTER (WHERE type = 11 AND "authorization" = 4) AS off_rank,
                    min(occurred_at) FILTER (WHERE type = 11 AND "authorization" = 4) AS turned_off_at,
                    coalesce(bool_or(type = 11 AND previous = 4 AND "authorization" IS DISTINCT FROM 4), false) AS turned_on,
                    max(occurred_at) FILTER (WHERE type = 11) AS changed_at,
                    max(rank | coalesce("authorization", 0)) FILTER (WHERE type = 11) AS changed_to
                FROM ranked GROUP BY install_id, app, day
            ), turned_off AS MATERIALIZED (
                SELECT \(copy.scatter.install("told")) AS scatter, app, day, off_rank, turned_off_at
                FROM told WHERE off_rank IS NOT NULL
            ), receipt AS (
                SELECT \(copy.scatter.install("ranked")) AS scatter, app, occurred_at, rank, category, campaign,
                    row_number() OVER (
                        PARTITION BY install_id, app, date_bin('15 minutes', occurred_at, '2000-01-01 00:00Z')
                        ORDER BY rank DESC) AS place
                FROM ranked WHERE type = 1 AND (via IS DISTINCT FROM 3 OR alert IS TRUE)
            ), last_receipt AS (
                SELECT t.scatter, t.app, t.day, max(r.rank | coalesce(r.category, 0)) AS category,
                    max(r.rank | coalesce(r.campaign, 0)) AS campaign
                FROM turned_off AS t JOIN receipt AS r ON r.scatter = t.scatter AND r.app = t.app
                WHERE r.place <= 8 AND r.rank < t.off_rank AND r.occurred_at >= t.turned_off_at - interval '24 hours'
                GROUP BY t.scatter, t.app, t.day
            )
            SELECT told.app, told.install_id, told.day, first_at, last_at, turned_off_at, changed_at, turned_on,
                (coalesce(platform, 0) & 4294967295)::integer AS platform,
                (coalesce(app_version, 0) & 4294967295)::integer AS app_version,
                (coalesce(os_version, 0) & 4294967295)::integer AS os_version,
                (coalesce(device_model, 0) & 4294967295)::integer AS device_model,
                (coalesce(locale, 0) & 4294967295)::integer AS locale,
                (coalesce(time_zone, 0) & 4294967295)::integer AS time_zone,
                (coalesce(r.category, 0) & 4294967295)::integer AS muted_category,
                (coalesce(r.campaign, 0) & 4294967295)::integer AS muted_campaign,
                (coalesce("authorization", 0) & 4294967295)::smallint AS "authorization",
                (coalesce(reach, 0) & 4294967295)::smallint AS reach,
                (coalesce(changed_to, 0) & 4294967295)::smallint AS changed_to,
                (turned_off_at IS NOT NULL)::integer + turned_on::integer * 2
                    + (turned_off_at IS NOT NULL AND r.category IS NULL)::integer * 4 AS flags
            FROM told
            LEFT JOIN last_receipt AS r
                ON r.scatter = CASE WHEN off_rank IS NOT NULL THEN \(copy.scatter.install("told")) END
                AND r.app = told.app AND r.day = told.day
            WHERE \(ProvedDays.condition(copy.days, of: "told."))
            """
    }
}

extension Recount {
    /// The facts of each install and day as its row holds them. The state, which the fold keeps to merge later events,
    /// is not compared, and neither are the device times: they only say where to look.
    package static let installDay = Recount(
        table: InstallDayTable.parent, projector: DeliveryTable.projector,
        layout: InstallDayTable.layout, opened: InstallDayTable.opened,
        sql: """
            SELECT app, install_id, day, platform, app_version, os_version, device_model, locale, time_zone, muted_category,
                muted_campaign, "authorization", reach, changed_to, flags, first_at, last_at, turned_off_at, changed_at
            FROM recount_install_day
            """,
        behind: "false")
}
