internal import EventLog

extension RecountTables {
    /// The days of installs, from all events of the shard but those of sealed days. A day has mostly one device, whose
    /// words are then those of the day. Only where it has several, or a change of permission, it is `mixed`, and its
    /// events are read again: what the last of them says is the greatest (rank, something), packed into one number. Of
    /// the receipts in a quarter of an hour the last 8 count; they are looked for only where notifications were turned
    /// off, which is rare.
    ///
    /// Installs are grouped and joined by a number with a secret in it, since ids that clients choose may all have one
    /// hash.
    static func installDays(shard: Int16, of copy: LogCopy, exceptSealed: Bool) -> String {
        let sealed = """
            WHERE NOT EXISTS (
                SELECT FROM projection.sealed_install_day AS s
                WHERE s.shard = \(shard) AND \(copy.scatter.isSameInstall("s", "e")) AND s.app = e.app
                    AND s.install_id = e.install_id AND e.occurred_at >= s.from_at AND e.occurred_at < s.to_at)
            """
        let words = ["platform", "app_version", "os_version", "device_model", "locale", "time_zone"]
        let states = ["\"authorization\"", "reach"]
        let said = { (name: String) in "coalesce(m.\(name) & 4294967295, d.\(name), 0)" }
        return """
            WITH event AS NOT MATERIALIZED (
                SELECT e.*, \(copy.scatter.install("e")) AS install,
                    (e.occurred_at AT TIME ZONE app.time_zone)::date AS day
                FROM recount_log AS e LEFT JOIN log.app AS app ON app.id = e.app
                \(exceptSealed ? sealed : "")
            ), told AS MATERIALIZED (
                SELECT install, app, install_id, day, min(occurred_at) AS first_at, max(occurred_at) AS last_at,
                    max(device_id) AS device,
                    (min(device_id) <> max(device_id) OR bool_or(is_spelled OR type = 11)) IS TRUE AS is_mixed
                FROM event GROUP BY install, app, install_id, day
            ), ranked AS MATERIALIZED (
                SELECT e.install, e.app, e.install_id, e.day, e.occurred_at, e.seq, e.event_id, e.device_at, e.type,
                    e.previous, \((words + states).map { "e.\($0)" }.joined(separator: ", ")), row_number() OVER (
                    ORDER BY e.install, e.install_id, e.app, e.occurred_at, e.seq, e.event_id, e.device_at) << 32 AS rank
                FROM told AS t JOIN event AS e ON e.install = t.install
                    AND CASE WHEN e.install_id = t.install_id AND e.app = t.app AND e.day = t.day
                        THEN true ELSE false END
                WHERE t.is_mixed
            ), mixed AS (
                SELECT install, app, install_id, day,
                    \((words + states).map { "max(rank | \($0)) AS \($0)" }.joined(separator: ", ")),
                    min(occurred_at) FILTER (WHERE type = 11 AND "authorization" = 4) AS turned_off_at,
                    coalesce(bool_or(type = 11 AND previous = 4 AND "authorization" IS DISTINCT FROM 4), false) AS turned_on,
                    max(occurred_at) FILTER (WHERE type = 11) AS changed_at,
                    max(rank | coalesce("authorization", 0)) FILTER (WHERE type = 11) AS changed_to
                FROM ranked GROUP BY install, app, install_id, day
            ), turned_off AS MATERIALIZED (
                SELECT DISTINCT ON (install, app, install_id, day)
                    install, app, install_id, day, occurred_at, seq, event_id, device_at
                FROM ranked WHERE type = 11 AND "authorization" = 4
                ORDER BY install, app, install_id, day, rank
            ), receipt AS (
                SELECT install, app, install_id, occurred_at, seq, event_id, device_at, category, campaign,
                    row_number() OVER (
                        PARTITION BY install, app, install_id, date_bin('15 minutes', occurred_at, '2000-01-01 00:00Z')
                        ORDER BY occurred_at DESC, seq DESC, event_id DESC, device_at DESC) AS place
                FROM event AS e
                WHERE type = 1 AND (via IS DISTINCT FROM 3 OR alert IS TRUE) AND EXISTS (
                    SELECT FROM turned_off AS t
                    WHERE t.install = e.install AND t.app = e.app AND t.install_id = e.install_id)
            ), last_receipt AS (
                SELECT DISTINCT ON (t.install, t.app, t.install_id, t.day)
                    t.install, t.app, t.install_id, t.day, coalesce(r.category, 0) AS category,
                    coalesce(r.campaign, 0) AS campaign
                FROM turned_off AS t JOIN receipt AS r ON r.install = t.install
                    AND CASE WHEN r.install_id = t.install_id AND r.app = t.app THEN true ELSE false END
                WHERE r.place <= 8 AND r.occurred_at >= t.occurred_at - interval '24 hours'
                    AND (r.occurred_at, r.seq, r.event_id, r.device_at)
                        < (t.occurred_at, t.seq, t.event_id, t.device_at)
                ORDER BY t.install, t.app, t.install_id, t.day, r.occurred_at DESC, r.seq DESC, r.event_id DESC,
                    r.device_at DESC
            )
            SELECT t.app, t.install_id, t.day, t.first_at, t.last_at, m.turned_off_at, m.changed_at,
                coalesce(m.turned_on, false) AS turned_on,
                \(words.map { "\(said($0))::integer AS \($0)" }.joined(separator: ", ")),
                \(states.map { "\(said($0))::smallint AS \($0)" }.joined(separator: ", ")),
                coalesce(r.category, 0) AS muted_category, coalesce(r.campaign, 0) AS muted_campaign,
                coalesce(m.changed_to & 4294967295, 0)::smallint AS changed_to,
                (m.turned_off_at IS NOT NULL)::integer + coalesce(m.turned_on, false)::integer * 2
                    + (m.turned_off_at IS NOT NULL AND r.category IS NULL)::integer * 4 AS flags
            FROM told AS t
            LEFT JOIN mixed AS m USING (install, app, install_id, day)
            LEFT JOIN last_receipt AS r USING (install, app, install_id, day)
            LEFT JOIN recount_device AS d ON d.id = t.device AND NOT t.is_mixed
            WHERE \(ProvedDays.condition(copy.days, of: "t."))
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
