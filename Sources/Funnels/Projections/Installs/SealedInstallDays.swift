internal import EventLog
internal import Postgres
internal import Values

/// The days of installs whose counts retention has sealed, each with the time that it took: another time zone has other
/// days. No generation counts an event of such a time. A day is remembered for as long as the log may hold an event of
/// it.
enum SealedInstallDays {
    /// Records that these are sealed. The times include all of their events, wherever the app's midnights are by now.
    static func remember(_ days: [InstallDay], on connection: inout Connection) throws(PostgresError) {
        let (names, states, facts) = (days.map(\.name), days.map(\.state), days.map(\.facts))
        try connection.queryPrepared(
            """
            INSERT INTO projection.sealed_install_day (
                from_at, to_at, first_device_at, last_device_at, install_id, app, shard)
            SELECT least(s.first_at, s.day::timestamp AT TIME ZONE a.time_zone),
                greatest(s.last_at + interval '1 microsecond', (s.day + 1)::timestamp AT TIME ZONE a.time_zone),
                s.first_device_at, s.last_device_at, s.install_id, s.app, s.shard
            FROM unnest(\(names.map(\.day)), \(facts.map(\.firstAt)), \(facts.map(\.lastAt)), \(states.map(\.firstDeviceAt)),
                \(states.map(\.lastDeviceAt)), \(names.map(\.install)), \(names.map(\.app)), \(names.map(\.shard)))
                AS s (day, first_at, last_at, first_device_at, last_device_at, install_id, app, shard)
            JOIN log.app AS a ON a.id = s.app
            """)
    }

    /// Takes the sightings of sealed days out of a step's news. Locks these days until the transaction ends, so that
    /// nobody forgets them meanwhile, and keeps them remembered for as long as their events exist.
    static func remove(from news: inout [InstallNews], on connection: inout Connection) throws(PostgresError) {
        let any = try connection.queryPrepared("SELECT EXISTS (SELECT FROM projection.sealed_install_day)")
        guard !news.isEmpty, try any.value(as: Bool.self) else { return }
        let names = news.map(\.name)
        let spans = news.map { news in
            let times = news.sightings.map(\.moment.occurredAt)
            return (times.min() ?? .init(microseconds: 0), times.max() ?? .init(microseconds: 0))
        }
        let rows = try connection.queryPrepared(
            """
            SELECT asked.place::integer - 1 AS place, d.from_at, d.to_at, d.first_device_at, d.last_device_at
            FROM unnest(\(names.map(\.install)), \(names.map(\.app)), \(names.map(\.shard)), \(spans.map(\.0)), \(spans.map(\.1)))
                WITH ORDINALITY AS asked (install_id, app, shard, first, last, place)
            CROSS JOIN LATERAL (
                SELECT * FROM projection.sealed_install_day AS d
                WHERE d.install_id = asked.install_id AND d.app = asked.app AND d.shard = asked.shard
                    AND d.from_at <= asked.last AND d.to_at > asked.first
                OFFSET 0 FOR KEY SHARE
            ) AS d
            ORDER BY asked.install_id, asked.app, d.from_at
            """)
        for row in rows {
            let place = Int(try row.get("place", as: Int32.self))
            let name = names[place]
            let (from, to): (Timestamp, Timestamp) = (try row.get("from_at"), try row.get("to_at"))
            let first: Timestamp = try row.get("first_device_at")
            let last: Timestamp = try row.get("last_device_at")
            let gone = news[place].sightings.filter { from <= $0.moment.occurredAt && $0.moment.occurredAt < to }
            guard let least = gone.map(\.moment.deviceAt).min(), let greatest = gone.map(\.moment.deviceAt).max() else {
                continue
            }
            news[place].sightings.removeAll { from <= $0.moment.occurredAt && $0.moment.occurredAt < to }
            guard least < first || greatest > last else { continue }
            try connection.queryPrepared(
                """
                UPDATE projection.sealed_install_day AS d
                SET first_device_at = least(first_device_at, \(least)), last_device_at = greatest(last_device_at, \(greatest))
                WHERE install_id = \(name.install) AND app = \(name.app) AND shard = \(name.shard) AND from_at = \(from)
                """)
        }
        news.removeAll(where: \.sightings.isEmpty)
    }

    /// Forgets days of which the log holds nothing any more.
    static func forgetGone(on connection: inout Connection) throws(PostgresError) {
        try SealedRows.forgetGone(
            from: "sealed_install_day",
            elsewhere: """
                coalesce(e.occurred_at, e.device_at) >= s.from_at AND coalesce(e.occurred_at, e.device_at) < s.to_at
                """, on: &connection)
    }
}
