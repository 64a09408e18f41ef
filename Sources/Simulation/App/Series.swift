internal import Values

/// A push that goes out again and again, each time as a campaign.
struct Series: Sendable {
    /// Its campaigns' names, one after the other day by day.
    let names: [String]
    let category: Category
    let schedule: Schedule
    /// Hours of the day in the app's own zone.
    let hours: [Double]
    /// Of the installs.
    let audience: Double
    var kind = Kind.alert
    /// How much more or less than others of the category it is liked.
    var appeal = 1.0
    var threads: [String] = []
    /// Several things in one notification: what the group's summary counts.
    var summaryCounts: ClosedRange<Int>?
    var media: MediaOffer?
    /// Tried in two variants, of which the second does better.
    var hasVariants = false
    var story: StoryPlan?
    var topic: String?
    var interruptionLevel: String?
    /// What its sender tells of its sends.
    var sends = Telling.all

    enum Kind: Sendable {
        case alert
        /// Wakes the app and shows nothing.
        case silent
        /// Asked for by the app itself; no server takes part.
        case local
    }

    enum Telling: Sendable {
        case all
        /// Only so large a share of the recipients, by mistake.
        case partly(Double)
        case untold
    }

    /// On which days it goes out.
    enum Schedule: Sendable {
        case daily
        /// 1 is Monday.
        case weekdays(Set<Int>)
        /// So many days before the last day, and so on.
        case every(Int)

        func includes(day: Int, lastDay: Int) -> Bool {
            switch self {
            case .daily: true
            case .weekdays(let days): days.contains(Zone.weekday(ofDay: day))
            case .every(let interval): (lastDay - day) % interval == 0
            }
        }
    }
}

/// What media a series attaches.
struct MediaOffer: Sendable {
    /// Of its notifications.
    let share: Double
    /// Of those; the others have a picture.
    let videos: Double
}

/// A story that a series plays.
struct StoryPlan: Sendable {
    let pages: Int
    /// What the payload declares; more than are shown when a page of it cannot be.
    let declaredPages: Int
    /// People who start it, of those who see the notification.
    let started: Double
    /// By page: who taps its button, of those who see the page.
    let clicked: [Double]
    /// Of the pages that are shown.
    let titles: [String]
    let host: String
}

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
