package import Telemetry

/// The summary of one day of one app: what a report says, whatever it is printed as. Everything in it is read from
/// `analytics.*`; what the numbers mean is said there.
package struct Report: Hashable, Sendable {
    package var app: String
    package var day: CivilDate
    /// The reporting time zone of the app, whose midnights bound the day.
    package var timeZone: String
    /// Every funnel held the batches of the log up to here.
    package var position: Int64
    package var madeAt: Timestamp
    package var headline: Headline
    package var settling: Settling
    /// Whether retention has dropped deliveries of the day. Their counts stay in all sums; what is told delivery by
    /// delivery would be of the others alone, so it is empty: `fallbackCost`, `stackDepths`, `reach`, `hours`, the
    /// launches of categories, and `campaigns` where they were dropped before campaigns were summed.
    package var isSealed = false
    /// Earlier days that are not any more what the reports before this one told.
    package var restated: [Restatement] = []
    /// By deliveries, the greatest first; so in all lists that follow, where no other order is named.
    package var categories: [CategorySummary] = []
    package var deadActions: [DeadAction] = []
    package var campaigns: [CampaignSummary] = []
    package var stories: [StorySummary] = []
    /// Nil on a day without stories, and on a sealed one.
    package var fallbackCost: FallbackCost?
    package var threads: [ThreadSummary] = []
    /// The scopes in their order, and the depths from the least.
    package var stackDepths: [StackDepth] = []
    package var versions: [VersionSummary] = []
    package var suppressed: [Suppressed] = []
    package var silent: [SilentSummary] = []
    package var media: [MediaSummary] = []
    package var mediaWithButtons: [MediaWithButtons] = []
    package var reach = Reach()
    /// All 24, in the time zone of the app; none on a sealed day.
    package var hours: [Hour] = []
    package var quality = Quality()

    package init(
        app: String, day: CivilDate, timeZone: String, position: Int64, madeAt: Timestamp, headline: Headline,
        settling: Settling
    ) {
        (self.app, self.day, self.timeZone) = (app, day, timeZone)
        (self.position, self.madeAt) = (position, madeAt)
        (self.headline, self.settling) = (headline, settling)
    }

    /// Whether the day has anything to tell.
    package var isEmpty: Bool { headline.counts.delivered == 0 && silent.isEmpty && quality.isEmpty }

    /// A row of a list: its name, '' where the events named none, and its columns.
    package struct Named: Hashable, Sendable {
        package var name: String
        package var counts: FunnelCounts

        package init(name: String, counts: FunnelCounts) { (self.name, self.counts) = (name, counts) }
    }
}
