package import Accounts
internal import Postgres
package import ServiceRuntime
internal import Values

/// Keeps what some views say of busy days, which takes seconds to compute (`projection.kept_day`), and makes it again
/// when something has changed that it depends on. The views show it, or compute: nobody waits for this, and no number
/// is wrong if it never runs.
package struct KeptDays: Sendable {
    /// Which days, and how often.
    package struct Rules: Sendable {
        /// With fewer, computing a day takes less than a second.
        package var leastDeliveries: Int64 = 50_000
        /// So many days back. Whoever reads an older day computes it.
        package var daysBack: Int32 = 35
        /// A result is not made again before so many seconds.
        package var leastSeconds: Double = 900
        /// A result that took some seconds is followed by so many times as many without any, so all of this takes a
        /// twentieth of a core.
        package var rests: Double = 19
        /// A result with more rows is not kept.
        package var mostRows: Int64 = 20_000
        /// The most seconds that a result may take.
        package var patience = 120
        /// Seconds between looks for what is due.
        package var pause: Double = 60

        package init() {}
    }

    let url: String
    let role: LogSession.Role?
    let log: Log
    package var rules = Rules()
    var cancellation = Cancellation()
    /// Called when a result is computed and not stored yet.
    var computed: @Sendable () throws -> Void = {}

    package init(url: String, role: LogSession.Role? = .projector, log: Log) {
        (self.url, self.role, self.log) = (url, role, log)
    }

    /// Makes the result that is most due: of the newest day. Returns how many seconds it took; nil if none is due.
    package func makeNext() throws -> Double? {
        // Not with the settings of a step, which looks up single rows.
        var connection = try LogSession.open(
            url: url, role: role, purpose: "kept days", log: log, statementSeconds: rules.patience)
        connection.deadline = .after(seconds: Double(rules.patience) + 60)
        return try cancellation.during(&connection) { connection in
            try Self.forgetOld(on: &connection)
            while let due = try next(on: &connection) {
                // If not, another node has just begun it.
                guard try claim(due, on: &connection) else { continue }
                let begun = Deadline.now
                try make(due, on: &connection)
                let seconds = Deadline.now.seconds(since: begun)
                let wait = max(rules.leastSeconds, seconds * rules.rests)
                try connection.query(
                    """
                    UPDATE projection.kept_day SET due_at = clock_timestamp() + make_interval(secs => \(wait))
                    WHERE view = \(due.view.name) AND app = \(due.app) AND day = \(due.day)
                    """)
                return seconds
            }
            return nil
        }
    }

    /// Makes what is due, for so many seconds and the rest of the last one.
    package func makeAll(within seconds: Double) throws {
        let end = Deadline.after(seconds: seconds)
        while !end.hasPassed, try makeNext() != nil {}
    }

    /// How long to rest after a look that made a result in so many seconds, or none.
    func rest(after seconds: Double?) -> Double { max(rules.pause, (seconds ?? 0) * rules.rests) }

    /// Removes results of an app that are out of date, and those that are being made. For transactions that remove
    /// what must not be shown any more, after they have counted up the days. They wait for nobody who computes, and
    /// while they last, nobody begins a result or ends one: so call this last.
    static func dropOutdated(of app: Int32, on connection: inout Connection) throws(PostgresError) {
        try lock(&connection)
        try connection.query(
            """
            DELETE FROM projection.kept_day AS k USING projection.kept_state AS s
            WHERE k.app = \(app) AND s.view = k.view AND s.app = k.app AND s.day = k.day
                AND s.fingerprint IS DISTINCT FROM s.present
            """)
    }

    /// Removes all, for transactions that remove deliveries without counting up their days.
    static func dropAll(on connection: inout Connection) throws(PostgresError) {
        try lock(&connection)
        try connection.query("DELETE FROM projection.kept_day")
    }

    private static func lock(_ connection: inout Connection) throws(PostgresError) {
        try connection.execute(script: "LOCK TABLE projection.kept_day IN SHARE ROW EXCLUSIVE MODE")
    }
}

// MARK: One result

extension KeptDays {
    /// A view of which results are kept. `projection` has one of the same name that computes.
    fileprivate struct View {
        let name: String
        /// How many days before and after a day its numbers may depend on, at most.
        let before: Int32
        let after: Int32

        static let all = [
            View(name: "stack_depth_funnel", before: 2, after: 0), View(name: "pressure_funnel", before: 7, after: 8),
        ]
    }

    fileprivate struct Due {
        let view: View
        let app: Int32
        let day: CivilDate
    }

    /// Results that are out of date, and that nobody makes again: of days that are sealed, or too old.
    private static func forgetOld(on connection: inout Connection) throws(PostgresError) {
        try connection.query(
            """
            DELETE FROM projection.kept_day AS k USING projection.kept_state AS s
            WHERE k.due_at < now() - interval '1 day' AND s.view = k.view AND s.app = k.app AND s.day = k.day
                AND s.fingerprint IS DISTINCT FROM s.present
            """)
    }

    /// The newest day that has none, or one that is out of date and may be made again. A login that reads some apps
    /// only would keep empty results.
    private func next(on connection: inout Connection) throws(PostgresError) -> Due? {
        let rows = try connection.query(
            """
            SELECT v.name, a.id, d.day
            FROM log.app AS a
            CROSS JOIN LATERAL (
                SELECT f.day FROM projection.category_funnel AS f
                WHERE f.generation = (
                        SELECT p.tables_generation FROM projection.projector AS p
                        WHERE p.generation = projection.chosen_generation(NULL) AND p.name = 'category_funnel')
                    AND f.app = a.id AND f.day >= (now() AT TIME ZONE a.time_zone)::date - \(rules.daysBack)
                GROUP BY f.day
                HAVING sum(f.delivered) >= \(rules.leastDeliveries)
            ) AS d
            CROSS JOIN unnest(\(View.all.map(\.name))) WITH ORDINALITY AS v (name, place)
            LEFT JOIN projection.kept_state AS k ON k.view = v.name AND k.app = a.id AND k.day = d.day
            WHERE log.apps_shown() IS NULL
                AND (k.view IS NULL OR k.due_at < now() AND k.fingerprint IS DISTINCT FROM k.present)
            ORDER BY d.day DESC, a.id, v.place LIMIT 1
            """)
        guard let row = rows.first else { return nil }
        let name: String = try row.get("name")
        guard let view = View.all.first(where: { $0.name == name }) else { return nil }
        return Due(view: view, app: try row.get("id"), day: try row.get("day"))
    }

    /// Notes that it is being made; false if somebody else has. Until it is known on which days it depends, it may be
    /// on any that the view can read.
    private func claim(_ due: Due, on connection: inout Connection) throws(PostgresError) -> Bool {
        let wait = Double(rules.patience) + rules.leastSeconds
        return try connection.query(
            """
            INSERT INTO projection.kept_day AS k (view, app, day, first_day, last_day, due_at)
            VALUES (\(due.view.name), \(due.app), \(due.day), \(due.day.advanced(by: -Int(due.view.before))),
                \(due.day.advanced(by: Int(due.view.after))), clock_timestamp() + make_interval(secs => \(wait)))
            ON CONFLICT (view, app, day) DO UPDATE
            SET first_day = excluded.first_day, last_day = excluded.last_day, due_at = excluded.due_at
            WHERE k.due_at < now()
            """
        ).affected == 1
    }

    /// Computes it and its fingerprint in one snapshot. If its row is gone at the end, so is something that it counts.
    private func make(_ due: Due, on connection: inout Connection) throws {
        do {
            try connection.inTransaction(.repeatableRead) { connection in
                let row = try connection.query(
                    """
                    SELECT CASE WHEN count(*) <= \(rules.mostRows)
                            THEN coalesce(jsonb_agg(to_jsonb(c) - '{app,day,first_day,last_day}'::text[]), '[]') END AS rows,
                        min(c.first_day) AS first_day, max(c.last_day) AS last_day
                    FROM projection.\(identifier: due.view.name) AS c WHERE c.app = \(due.app) AND c.day = \(due.day)
                    """)[0]
                let rows: JSONB? = try row.optional("rows")
                let first: CivilDate? = try row.optional("first_day")
                let last: CivilDate? = try row.optional("last_day")
                try computed()
                try connection.query(
                    """
                    UPDATE projection.kept_day
                    SET rows = \(rows), made_at = now(), first_day = coalesce(\(first), first_day),
                        last_day = coalesce(\(last), last_day)
                    WHERE view = \(due.view.name) AND app = \(due.app) AND day = \(due.day)
                    """)
                try connection.query(
                    """
                    UPDATE projection.kept_day AS k SET fingerprint = s.present
                    FROM projection.kept_state AS s
                    WHERE k.view = \(due.view.name) AND k.app = \(due.app) AND k.day = \(due.day)
                        AND s.view = k.view AND s.app = k.app AND s.day = k.day
                    """)
            }
        } catch {
            try cancellation.check()
            guard connection.isUsable, (error as? PostgresError)?.state != nil else { throw error }
            log.warning(
                "could not keep what a view says of a day, so whoever reads it computes it",
                ["view": due.view.name, "day": "\(due.day)", "error": "\(error)"])
        }
    }
}
