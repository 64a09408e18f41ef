package import Postgres
package import Values

/// How long after its end a day of an app still changes, for pages that show many days at once. `Settling` says it of
/// one day.
package struct DaysSettled: Sendable {
    /// Hours after the end of a day until 99 % of its events and receipts have arrived; nil if too few events tell.
    package let hours: Int?
    /// How many events it is estimated from.
    package let events: Int64

    package init(hours: Int?, events: Int64) { (self.hours, self.events) = (hours, events) }

    /// From the four weeks before today; of a busy log, a fair sample of so many deliveries.
    package static func read(
        of app: ReportedApp, at now: Timestamp, mostDeliveries: Int64, on connection: inout Connection
    ) throws(PostgresError) -> DaysSettled {
        let scope = try ReportScope(app, .day(app.today), now: now, mostDeliveries: mostDeliveries, on: &connection)
        let (events, receipts, _) = try Arrivals.read(scope, on: &connection).curves(before: scope.day, scope)
        let hours = [events.hours(to: 0.99), receipts.hours(to: 0.99)].compactMap(\.self).max()
        return DaysSettled(hours: hours, events: events.events)
    }

    /// The first day that still changes, on this date.
    package func firstOpenDay(today: CivilDate) -> CivilDate {
        // Today has not ended; yesterday ended up to a day ago.
        let days = ((hours ?? Settling.hoursUntold) + 23) / 24
        return today.advanced(by: -days)
    }
}
