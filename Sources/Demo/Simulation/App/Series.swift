internal import Values

/// A push that is sent repeatedly, each time as a campaign.
struct Series: Sendable {
    /// The names of its campaigns, used in turn day by day.
    let names: [String]
    let category: Category
    let schedule: Schedule
    /// The hours of sending, in the app's own zone.
    let hours: [Double]
    /// The share of installs that get it.
    let audience: Double
    var kind = Kind.alert
    /// How much better or worse than others of the category people like it.
    var appeal = 1.0
    var threads: [String] = []
    /// How many items one notification stands for, as the group's summary counts them.
    var summaryCounts: ClosedRange<Int>?
    var media: MediaOffer?
    /// Tested in two variants; the second one works better.
    var hasVariants = false
    var story: StoryPlan?
    var topic: String?
    var interruptionLevel: String?
    /// What its sender reports about its sends.
    var sends = Telling.all

    enum Kind: Sendable {
        case alert
        /// Wakes the app without showing anything.
        case silent
        /// The app itself schedules it, without a server.
        case local
    }

    enum Telling: Sendable {
        case all
        /// Reports only this share of the recipients, by mistake.
        case partly(Double)
        case untold
    }

    /// The days on which it is sent.
    enum Schedule: Sendable {
        case daily
        /// 1 is Monday.
        case weekdays(Set<Int>)
        /// Every so many days, counted back from the last day.
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

/// The media that a series attaches.
struct MediaOffer: Sendable {
    /// The share of its notifications with media.
    let share: Double
    /// The share of videos among them; the others are pictures.
    let videos: Double
}

/// A story that a series plays.
struct StoryPlan: Sendable {
    let pages: Int
    /// How many pages the payload declares. It may declare pages that cannot be shown.
    let declaredPages: Int
    /// The share of people who see the notification and start it.
    let started: Double
    /// By page: the share of people who see the page and tap its button.
    let clicked: [Double]
    /// The titles of the pages that are shown.
    let titles: [String]
    let host: String
}

/// One run of a series.
final class Campaign: Sendable {
    let series: Series
    let name: String
    let sentAt: Timestamp
    /// The sender's thread id, the same for all phones.
    let thread: String?

    /// `day` is a number, so that names and threads take turns.
    init(_ series: Series, day: Int, slot: Int = 0, sentAt: Timestamp) {
        self.series = series
        name = series.names[(day &+ slot) % series.names.count]
        thread = series.threads.isEmpty ? nil : series.threads[(day &+ slot) % series.threads.count]
        self.sentAt = sentAt
    }

    var category: Category { series.category }
}
