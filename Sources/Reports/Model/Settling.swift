/// How much of the day is likely still to come: who did not respond reports at the app's next launch.
package struct Settling: Hashable, Sendable {
    /// Whole hours from the end of the day to the making of the report; negative while the day lasts.
    package var hoursSinceEnd: Int
    /// The share of a day's events that is in by then, by how they came in on the 28 days before; nil when those are
    /// too few to say, and while the day lasts.
    package var share: Double?
    /// The events it is told from; of a log that is too long to be read, a fair sample.
    package var events: Int64
    /// Hours after the end of a day until 95 and 99 of 100 of its events are in; nil when not within 28 days.
    package var hoursTo95: Int?
    package var hoursTo99: Int?

    package init(hoursSinceEnd: Int, share: Double?, events: Int64, hoursTo95: Int?, hoursTo99: Int?) {
        (self.hoursSinceEnd, self.share, self.events) = (hoursSinceEnd, share, events)
        (self.hoursTo95, self.hoursTo99) = (hoursTo95, hoursTo99)
    }
}
