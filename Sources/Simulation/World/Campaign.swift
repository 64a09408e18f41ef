internal import Values

/// One sending of a series.
final class Campaign: Sendable {
    let series: Series
    let name: String
    let sentAt: Timestamp
    /// The same for all phones: what the sender made of it.
    let thread: String?

    /// `day` counts the days, so that names and threads take turns.
    init(_ series: Series, day: Int, slot: Int = 0, sentAt: Timestamp) {
        self.series = series
        name = series.names[(day &+ slot) % series.names.count]
        thread = series.threads.isEmpty ? nil : series.threads[(day &+ slot) % series.threads.count]
        self.sentAt = sentAt
    }

    var category: Category { series.category }
}
