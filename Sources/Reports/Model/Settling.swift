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

    /// The share of a day's receipts that is in by then. They are what comes late, since who taps reports at once: until
    /// they are in, the response rate is too high.
    package var receiptShare: Double?

    /// Whether what is still to come changes nothing that is worth a word.
    package var isSettled: Bool {
        guard let share else { return hoursSinceEnd >= Settling.hoursUntold }
        return min(share, receiptShare ?? share) >= 0.99
    }

    /// Where nothing is known of how events come in, a week is thought to be enough.
    private static let hoursUntold = 168

    package init(hoursSinceEnd: Int, share: Double?, events: Int64, hoursTo95: Int?, hoursTo99: Int?) {
        (self.hoursSinceEnd, self.share, self.events) = (hoursSinceEnd, share, events)
        (self.hoursTo95, self.hoursTo99) = (hoursTo95, hoursTo99)
    }
}
