internal import Postgres
internal import Telemetry
package import Values

/// The summary of one day or week of one app: what a report says, in whatever format it is printed. Everything in it is
/// read from `analytics.*`; the comments of those views say what the numbers mean.
package struct Report: Hashable, Sendable {
    var app: String
    package var period: Period
    /// The reporting time zone of the app. Its midnights bound the day.
    var timeZone: String
    /// Every funnel contained the batches of the log up to this position.
    package var position: Int64
    var madeAt: Timestamp
    package var headline = Headline()
    /// The day and the four weeks before it, or the week and the eight before it, the earliest first.
    var trend: [TrendPoint] = []
    /// Most deliveries first. Empty if there is no usual day.
    var movers: [Mover] = []
    /// Of a week: what its days ask for and nothing has mended since.
    var carried: [Deed] = []
    /// Which buttons close or decline, as registered when the report was made; nil if none does. Engagement of two
    /// reports can be compared only if they agree in this.
    var closingButtons: String?
    var dismissals = Dismissals()
    var settling: Settling
    /// Whether retention has dropped deliveries of the day. Their counts stay in all sums. What is counted from single
    /// deliveries would describe only the rest, so it is empty: `fallbackCost`, `stackDepths`, `reach`, `hours`,
    /// `timeOfDay`, the launches of categories, and `campaigns` if the deliveries were dropped before campaigns were
    /// summed.
    var isSealed = false
    /// Earlier days whose numbers have changed since they were reported.
    var restated: [Restatement] = []
    /// Most deliveries first, as in all lists below that name no other order.
    var categories: [CategorySummary] = []
    /// Of the categories that `categories` leaves out; nil if there are none.
    var otherCategories: RestOfList<FunnelCounts>?
    /// Those that run, the latest first.
    var experiments: [ExperimentSummary] = []
    /// Those that followed most notifications first; empty if none did.
    var goals: [GoalSummary] = []
    /// Of the goals that `goals` leaves out; nil if there are none. Their values have no sum.
    var otherGoals: RestOfList<GoalSummary>?
    /// Of a week: what one more notification does.
    var pressure = Pressure()
    var deadActions: [DeadAction] = []
    /// Of the dead buttons that `deadActions` leaves out: their deliveries, a delivery once for each.
    var otherDeadActions: RestOfList<Int64>?
    var campaigns: [CampaignSummary] = []
    /// Of the campaigns that `campaigns` leaves out; nil if there are none.
    var otherCampaigns: RestOfList<FunnelCounts>?
    var stories: [StorySummary] = []
    var otherStories: RestOfList<StorySummary>?
    /// Nil on a day without stories, and on a sealed one.
    var fallbackCost: FallbackCost?
    var threads: [ThreadSummary] = []
    var otherThreads: RestOfList<ThreadSummary>?
    /// Groups before the app, and small depths before large ones.
    var stackDepths: [StackDepth] = []
    /// Of deep stacks in the app against none; nil if there are not both.
    var stackCost: Significance?
    var versions: [VersionSummary] = []
    var otherVersions: RestOfList<FunnelCounts>?
    var suppressed: [Suppressed] = []
    var otherSuppressed: RestOfList<Suppressed>?
    var silent: [SilentSummary] = []
    var otherSilent: RestOfList<SilentSummary>?
    var media: [MediaSummary] = []
    /// Nil if nothing is missing, or nothing was attached.
    var mediaCost: MediaCost?
    var mediaWithButtons: [MediaWithButtons] = []
    /// Deliveries with audio, in the categories of Hive's sets.
    var audioInHive: Int64 = 0
    var reach = ReachedInstalls()
    var permissions = Permissions()
    /// All 24, in the time zone of the app; empty on a sealed day.
    var hours: [Hour] = []
    /// Nil where no recent day has settled, and in the report of a week.
    var timeOfDay: TimeOfDay?
    var quality = Quality()
    /// What the last verification found of the days of the report, and of all days on its page.
    var verifications: [Verification] = []
    /// How many comparisons of rates were made: see `FalseDiscovery`.
    var comparisons: Int64 = 0

    /// Where closing by a button is known from other responses, engagement says more than response.
    var leadsWithEngagement: Bool { closingButtons != nil }

    /// Whether nothing at all is known of the day.
    var isEmpty: Bool { headline.counts.delivered == 0 && silent.isEmpty && quality.isEmpty }
}

/// A section of the report. One file holds what it reads, what it says to people and what it says to programs.
protocol ReportSection {
    /// Reads its part of the report. The sections before it have been read.
    static func read(into report: inout Report, _ scope: ReportScope, on connection: inout Connection)
        throws(PostgresError)
    /// Visits each of its verdicts on a comparison of rates.
    static func eachVerdict(_ report: inout Report, _ visit: (inout Significance) -> Void)
    /// What it asks people to do.
    static func deeds(_ report: Report) -> [Deed]
    /// What it says to people; nil when it has nothing to say.
    static func words(_ report: Report) -> Page.Section?
    /// What JSON and CSV contain of it, whether it has something to say or not.
    static func facts(_ report: Report) -> [EntryList]
}

extension ReportSection {
    static func read(into _: inout Report, _: ReportScope, on _: inout Connection) throws(PostgresError) {}
    static func eachVerdict(_: inout Report, _: (inout Significance) -> Void) {}
    static func deeds(_: Report) -> [Deed] { [] }
    static func facts(_: Report) -> [EntryList] { [] }
}

extension Report {
    /// The day, or the last day of the week.
    package var day: CivilDate { period.days.upperBound }
    var week: Week? { if case .week(let week) = period { week } else { nil } }

    /// In the order in which people ask. Reading, the page, JSON and CSV follow this list.
    static func sections(of period: Period) -> [any ReportSection.Type] { front(of: period) + details(of: period) }

    /// What happened and what to do: enough for who reads no further.
    static func front(of period: Period) -> [any ReportSection.Type] {
        if case .week = period {
            return [ToDoSection.self, HeadlineSection.self, SettlingSection.self, MoversSection.self]
        }
        return [
            ToDoSection.self, HeadlineSection.self, SealingSection.self, SettlingSection.self, MoversSection.self,
            TimeOfDaySection.self,
        ]
    }

    /// Of a week: what can be added up over it, or does not look at single deliveries.
    static func details(of period: Period) -> [any ReportSection.Type] {
        if case .week = period {
            return [
                TrendSection.self, ExperimentsSection.self, GoalsSection.self, PressureSection.self,
                CategoriesSection.self, CampaignsSection.self, StoriesSection.self, ThreadsSection.self,
                VersionsSection.self, SuppressedSection.self, SilentPushesSection.self,
                QualitySection.self, ProofSection.self, MethodSection.self,
            ]
        }
        return [
            TrendSection.self, EarlierDaysSection.self, ExperimentsSection.self, GoalsSection.self,
            CategoriesSection.self, DeadButtonsSection.self, CampaignsSection.self, StoriesSection.self,
            ThreadsSection.self, StackDepthsSection.self, VersionsSection.self, SuppressedSection.self,
            SilentPushesSection.self, MediaSection.self,
            InstallsSection.self, HoursSection.self, QualitySection.self, ProofSection.self, MethodSection.self,
        ]
    }

    var sections: [any ReportSection.Type] { Report.sections(of: period) }

    /// What JSON and CSV say of the report as a whole.
    var facts: [Fact] { [.flag("sealed", isSealed), .count("comparisons", comparisons)] }
    /// What JSON and CSV say section by section.
    var lists: [EntryList] { sections.flatMap { $0.facts(self) } }
}
