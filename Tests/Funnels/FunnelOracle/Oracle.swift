package import struct Foundation.TimeZone

/// The funnels that a set of events makes, computed straight from the words of the contract's section 4.
///
/// It is the measure of what is fast and incremental, so it is neither: each number is looked for in all events of its
/// deliveries anew. Simple enough to be checked by reading; nothing of it is shared with what it judges, but the event
/// itself and its notification key.
///
/// The order of the events makes no difference, nor do repeats.
package enum Oracle {
    /// All funnels. `timeZone` gives an app's reporting zone by its slug.
    ///
    /// Days follow the time-zone data that Foundation brings, not that of the system or of PostgreSQL.
    package static func funnels(of events: [StoredEvent], timeZone: (String) -> TimeZone) -> Funnels {
        Funnels(
            of: Delivery.all(in: events, timeZone: timeZone), InstallDay.all(in: events, timeZone: timeZone))
    }
}
