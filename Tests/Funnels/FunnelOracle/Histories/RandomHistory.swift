package import struct Foundation.TimeZone

/// Believable and nasty events of a few deliveries, in the order in which they arrived.
///
/// Two histories of one seed are the same. All events are such as validation lets through, and repeats are unchanged.
/// The events of a history lie within a few days around one night, mostly one on which a clock is changed, in 2024 and
/// 2025.
///
/// What may happen: several apps, zones and installs; one notification key on several installs and in several apps; an
/// FCM id in each of its spellings; categories and other attributes that contradict each other or are missing; events
/// of one moment, told apart by `seq`, by its absence or by id; one event id twice at different device times; late
/// events and such as are dated before all others, across midnight; stories that are re-wound, started anew, loop, fall
/// back, are clicked on pages never shown or lack their beginning; rarely one of more than 1,000 events; silent pushes,
/// and such as turn out visible; foreground receipts with any presentation, or none; media outcomes that contradict
/// each other; notifications turned off and on; taps before the receipt; dwells at the edge of 60 s, or at the edge of
/// 0.4 s from what was declared; repeats in any place.
package struct RandomHistory: Sendable {
    package let seed: UInt64
    /// In order of arrival, repeats in between.
    package let events: [StoredEvent]
    /// The reporting zone of each app by its slug, as IANA name.
    package let timeZoneNames: [String: String]

    /// A history of up to `deliveries` deliveries. `appPrefix` keeps the slugs of several histories apart.
    package init(seed: UInt64, deliveries: Int = 8, appPrefix: String = "app") {
        var maker = HistoryMaker(seed: seed, appPrefix: appPrefix)
        self.seed = seed
        timeZoneNames = maker.timeZoneNames
        events = maker.history(deliveries: deliveries)
    }

    /// A history in which these bytes make the first choices.
    package init(steeredBy bytes: [UInt8], deliveries: Int) {
        var maker = HistoryMaker(seed: 0, appPrefix: "app", steeredBy: bytes)
        seed = 0
        timeZoneNames = maker.timeZoneNames
        events = maker.history(deliveries: deliveries)
    }

    package func timeZone(of app: String) -> TimeZone {
        ReportingZone.timeZone(named: timeZoneNames[app] ?? "UTC")
    }

    /// What the oracle makes of it.
    package var funnels: Funnels { Oracle.funnels(of: events, timeZone: timeZone) }
}
