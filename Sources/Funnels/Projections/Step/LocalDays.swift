internal import Postgres
internal import Values

/// The days of events in the time zones of their apps.
///
/// PostgreSQL knows the zones. It is asked once for each quarter of an hour that has events: nearly all of them begin
/// and end on the same day. Where one does not, it is asked for each event.
enum LocalDays {
    private struct Quarter: Hashable {
        let app: Int32
        let number: Int64
    }

    private static let length: Int64 = 900_000_000

    static func find(of events: inout [StepEvent], on connection: inout Connection) throws(PostgresError) {
        guard !events.isEmpty else { return }
        var quarters: [Quarter] = []
        var places: [Quarter: Int32] = [:]
        var last: (quarter: Quarter, place: Int32)?
        for index in events.indices {
            let quarter = Quarter(app: events[index].app, number: events[index].occurredAt.quarter)
            if last?.quarter != quarter {
                let next = Int32(quarters.count)
                let place = places[quarter] ?? next
                if place == next {
                    places[quarter] = place
                    quarters.append(quarter)
                }
                last = (quarter, place)
            }
            // For now, its quarter of an hour.
            events[index].daySince1970 = last?.place ?? 0
        }
        let begins = quarters.map { Timestamp(microseconds: $0.number * length) }
        let apps = quarters.map(\.app)
        let both = try days(of: apps + apps, at: begins + begins.map { $0 + (length - 1) }, on: &connection)
        let (firsts, lasts) = (both.prefix(apps.count), both.dropFirst(apps.count))
        var open: [Int] = []
        for index in events.indices {
            let place = Int(events[index].daySince1970)
            if firsts[place] != lasts[lasts.startIndex + place] { open.append(index) }
            events[index].daySince1970 = firsts[place]
        }
        guard !open.isEmpty else { return }
        let found = try days(of: open.map { events[$0].app }, at: open.map { events[$0].occurredAt }, on: &connection)
        for (index, day) in zip(open, found) { events[index].daySince1970 = day }
    }

    private static func days(
        of apps: [Int32], at times: [Timestamp], on connection: inout Connection
    ) throws(PostgresError) -> [Int32] {
        let found = try connection.queryPrepared(
            """
            SELECT (asked.at AT TIME ZONE a.time_zone)::date
            FROM unnest(\(apps), \(times)) WITH ORDINALITY AS asked (app, at, place)
            JOIN log.app AS a ON a.id = asked.app
            ORDER BY asked.place
            """
        ).values(as: CivilDate.self)
        guard found.count == apps.count else { throw .decoding("an event has an app that the log does not know") }
        return found.map { Int32(clamping: $0.daysSince1970) }
    }
}
