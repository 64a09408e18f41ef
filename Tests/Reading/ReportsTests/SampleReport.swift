import Telemetry
import Values

@testable import Reports

/// Whole reports to draw: every section has something to say, and some of the names are hostile.
enum SampleReport {
    enum Kind: CaseIterable {
        case busy, small, empty, hostile, week

        var report: Report {
            switch self {
            case .busy: SampleReport.busy
            case .small: SampleReport.small
            case .empty: SampleReport.empty
            case .hostile: SampleReport.hostile
            case .week: SampleReport.week
            }
        }
    }

    static let day = date(2026, 11, 20)

    /// A busy Friday of a shop in Bangkok. All laws of the funnels hold in it.
    static var busy: Report {
        let categories = categories
        var report = Report(
            app: "shop", period: .day(day), timeZone: "Asia/Bangkok", position: 48_213,
            madeAt: Timestamp(microseconds: 1_795_212_005_120_000),
            headline: headline(of: sum(categories.map(\.counts))),
            settling: Settling(hoursSinceEnd: 5, share: 0.914, events: 1_204_551, hoursTo95: 14, hoursTo99: 71))
        report.settling.receiptShare = 0.861
        report.restated = restated
        report.categories = categories
        report.experiments = experiments
        report.goals = goals
        report.deadActions = [
            DeadAction(
                category: "ACCEPT_DECISION", what: .silentSince(id: "HOLDING", days: 9), delivered: 4_120,
                bound: 0.00073),
            DeadAction(
                category: HostileNames.script, what: .neverTapped(index: 2, count: 3), delivered: 1_804, bound: 0.00166),
        ]
        report.campaigns = [
            .init(
                name: "black-friday", counts: counts(21_400, received: 17_900, opened: 2_950, dismissed: 610),
                sent: 26_000, accepted: 25_880, fcmDelivered: 22_310),
            .init(name: "", counts: counts(14_300, received: 12_480, opened: 1_730, dismissed: 402)),
            .init(name: HostileNames.arabic, counts: counts(4_210, received: 3_620, opened: 377, dismissed: 95)),
            .init(name: HostileNames.formula, counts: counts(310, received: 268, opened: 22, dismissed: 4)),
            .init(name: HostileNames.override, counts: counts(42, received: 0, opened: 0, dismissed: 0), sent: 40),
            .init(name: "winter-is-coming", counts: FunnelCounts(), sent: 1_200),
        ]
        report.campaigns[0].variants = [
            CampaignVariant(name: "b", counts: counts(10_800, received: 9_000, opened: 1_510, dismissed: 300)),
            CampaignVariant(name: "a", counts: counts(10_600, received: 8_900, opened: 1_440, dismissed: 310)),
        ]
        report.campaigns[4].contradictions = ["delivered over sent"]
        report.stories = stories
        let (fallback, shown) = (Rate(31, of: 402), Rate(1_280, of: 5_830))
        report.fallbackCost = FallbackCost(
            fallback: fallback, shown: shown, verdict: TwoProportions.verdict(fallback, against: shown))
        report.threads = [
            ThreadSummary(
                name: "promo", counts: counts(25_000, received: 20_900, opened: 2_900, dismissed: 700), items: 31_022),
            ThreadSummary(
                name: HostileNames.hebrew, counts: counts(9_100, received: 8_010, opened: 1_204, dismissed: 210),
                items: 9_100),
            ThreadSummary(name: "", counts: counts(6_162, received: 5_358, opened: 980, dismissed: 201), items: 6_162),
        ]
        report.stackDepths = stackDepths
        report.stackCost = StackDepth.cost(of: report.stackDepths)
        report.versions = versions
        report.suppressed = [
            Suppressed(category: "CART_REMINDER", suppressed: Rate(206, of: 6_720)),
            Suppressed(category: HostileNames.image, suppressed: Rate(11, of: 402)),
        ]
        report.silent = [
            SilentSummary(
                campaign: "config-refresh", woken: 9_204, newData: 6_110, noData: 2_480, failed: 190, noResult: 424),
            SilentSummary(campaign: "", woken: 310, newData: 0, noData: 300, failed: 0, noResult: 10),
        ]
        report.media = [
            MediaSummary(kind: "image", network: "wifi", outcome: "attached", deliveries: 12_400, responded: 2_105),
            MediaSummary(kind: "image", network: "cellular", outcome: "attached", deliveries: 6_022, responded: 810),
            MediaSummary(kind: "image", network: "cellular", outcome: "timed_out", deliveries: 611, responded: 44),
            MediaSummary(kind: "video", network: "cellular", outcome: "skipped", deliveries: 288, responded: 31),
            MediaSummary(kind: "audio", network: "wifi", outcome: "attached", deliveries: 31, responded: 2),
            MediaSummary(kind: "", network: "", outcome: "failed", deliveries: 12, responded: 0),
        ]
        report.mediaCost = MediaCost(report.media)
        report.mediaWithButtons = [
            MediaWithButtons(category: "ACCEPT_DECISION", deliveries: 4_301, delivered: 9_012),
            MediaWithButtons(category: "CART_REMINDER", deliveries: 2_871, delivered: 3_007),
        ]
        report.audioInHive = 31
        report.reach.reached = 18_230
        report.reach.responding = 3_980
        report.reach.pushesP50 = 2
        report.reach.pushesP95 = 5
        report.permissions = Permissions(
            active: 9_204, allowed: 8_310, denied: 704, turnedOff: 12, turnedOn: 3,
            mutedAfter: [
                .init(category: "CART_REMINDER", campaign: "", installs: 9),
                .init(category: "PW_STORIES", campaign: "black-friday", installs: 3),
            ])
        report.trend = trend(to: report.headline.counts)
        report.movers = movers
        report.hours = hours(of: report.headline.counts)
        report.timeOfDay = TimeOfDay(
            report.day.advanced(by: -3), (0..<4).map { ("PW_STORIES", $0, Rate($0 == 3 ? 690 : 420, of: 4_200)) })
        report.quality = quality
        report.verifications = [
            Verification(
                since: nil, at: Timestamp(microseconds: 1_795_210_204_000_000), isProved: true, differing: 0,
                position: 48_213, isUnchanged: true)
        ]
        return report
    }

    /// A week of the same shop, in which people get more than they like.
    static var week: Report {
        var report = busy
        report.period = .week(Week(of: day))
        report.pressure = pressure
        return report
    }

    /// A small app's quiet day: small samples, no stories, nothing before it.
    static var small: Report {
        var report = Report(
            app: "notes", period: .day(day), timeZone: "America/New_York", position: 48_213,
            madeAt: Timestamp(microseconds: 1_795_212_005_120_000),
            headline: Headline(counts: counts(7, received: 4, opened: 1, dismissed: 0)),
            settling: Settling(hoursSinceEnd: 0, share: nil, events: 61, hoursTo95: nil, hoursTo99: nil))
        report.categories = [CategorySummary(name: "", counts: report.headline.counts)]
        report.hours = (0..<24).map { Hour(hour: $0, response: Rate(0, of: $0 == 9 ? 4 : 0)) }
        return report
    }

    /// A day without events.
    static var empty: Report {
        Report(
            app: "notes", period: .day(day), timeZone: "UTC", position: 0,
            madeAt: Timestamp(microseconds: 1_795_212_005_120_000), headline: Headline(counts: FunnelCounts()),
            settling: Settling(hoursSinceEnd: 5, share: nil, events: 0, hoursTo95: nil, hoursTo99: nil))
    }

    /// Every hostile name in every place where a name can stand.
    static var hostile: Report {
        var report = busy
        report.app = HostileNames.script
        report.timeZone = HostileNames.image
        let some = counts(100, received: 90, opened: 20, dismissed: 3)
        report.categories = HostileNames.all.map { name in
            var category = CategorySummary(name: name, counts: some)
            category.actions = [
                .init(id: name, tappedDeliveries: 3, taps: 4, foregroundTaps: 4, timed: 3, medianSeconds: 4.25)
            ]
            category.launches = [.init(state: name, opened: 20)]
            category.buttons = [
                Button(
                    id: name, position: 1, title: name, answer: "accept", exposures: 40, tappedDeliveries: 3, taps: 4,
                    tapRate: 0.075, verdict: .tapped),
                Button(id: name + "2", position: 2, title: name, tappedDeliveries: 0, taps: 0, verdict: .tooFew),
            ]
            category.answers = [.init(answer: "accept", tappedDeliveries: 3, taps: 4)]
            return category
        }
        report.movers = HostileNames.all.map {
            Mover(
                category: $0, delivered: 100, rate: Rate(20, of: 90), usual: 0.5, pooled: Rate(50, of: 100),
                verdict: .lower(p: 0.0001))
        }
        report.experiments = HostileNames.all.prefix(10).map { name in
            var experiment = experiment(name, control: 100, treated: 900)
            experiment.goals = [.init(name: name, treated: Rate(90, of: 900), control: Rate(10, of: 100))]
            return experiment
        }
        report.goals = HostileNames.all.map { name in
            var goal = goals[0]
            goal.name = name
            goal.campaigns = HostileNames.all.map { GoalCampaign(name: $0, receipt: goal.receipt) }
            return goal
        }
        report.otherGoals = RestOfList(entries: 2, counts: goals[0])
        report.permissions.mutedAfter = HostileNames.all.map { .init(category: $0, campaign: $0, installs: 2) }
        report.deadActions = HostileNames.all.map {
            DeadAction(category: $0, what: .silentSince(id: $0, days: 3), delivered: 400, bound: 0.0075)
        }
        report.campaigns = HostileNames.all.map { .init(name: $0, counts: some, sent: 90) }
        for place in report.campaigns.indices {
            report.campaigns[place].contradictions = ["delivered over sent"]
            report.campaigns[place].variants = HostileNames.all.map { CampaignVariant(name: $0, counts: some) }
        }
        report.mediaWithButtons = HostileNames.all.map {
            MediaWithButtons(category: $0, deliveries: 40, delivered: 100)
        }
        report.stories = HostileNames.all.map { name in
            var story = story(
                name, name, pages: [100, 80, 30], exits: .init(clicked: 5, finished: 20, fallback: 3, abandoned: 75))
            for place in story.pages.indices { story.pages[place].title = name }
            story.faults = [.init(declaredIndex: 1, kind: .invalidLink)]
            return story
        }
        report.threads = HostileNames.all.map { ThreadSummary(name: $0, counts: some, items: 100) }
        report.versions = HostileNames.all.map {
            VersionSummary(
                platform: $0, version: $0, counts: some, before: Rate(990, of: 1000), isNew: true,
                verdict: .lower(p: 0.0001))
        }
        report.suppressed = HostileNames.all.map { Suppressed(category: $0, suppressed: Rate(3, of: 100)) }
        report.silent = HostileNames.all.map {
            SilentSummary(campaign: $0, woken: 9, newData: 3, noData: 3, failed: 2, noResult: 1)
        }
        report.media = HostileNames.all.map {
            MediaSummary(kind: $0, network: $0, outcome: $0, deliveries: 9, responded: 1)
        }
        report.quality.rejectedByReason = HostileNames.all.map { .init(reason: $0, events: 2) }
        return report
    }
}

// MARK: - The parts of the busy day

extension SampleReport {
    private static var goals: [GoalSummary] {
        func counts(_ converted: [Int64], _ goals: [Int64], _ value: Int128) -> GoalCounts {
            GoalCounts(
                converted: converted, goals: goals,
                value: [value / 4, value, value * 2].map { Amount(millionths: $0) })
        }
        let purchase = GoalSummary(
            name: "purchase", currency: "THB", response: counts([412, 702, 911], [420, 731, 1_002], 405_120_250_000),
            receipt: counts([498, 1_402, 3_012], [505, 1_466, 3_304], 812_330_505_000),
            campaigns: [
                GoalCampaign(
                    name: "black-friday", response: counts([300, 480, 590], [310, 500, 640], 300_000_000_000),
                    receipt: counts([320, 820, 1_800], [325, 850, 2_000], 500_000_000_000)),
                GoalCampaign(
                    name: "", response: counts([112, 222, 321], [115, 231, 362], 105_120_250_000),
                    receipt: counts([178, 582, 1_212], [180, 616, 1_304], 312_330_505_000)),
            ],
            otherCampaigns: RestOfList(
                entries: 3, counts: GoalCampaign(receipt: counts([0, 1, 2], [0, 1, 2], 1_000_000))))
        let visit = GoalSummary(
            name: "visit", response: counts([3_010, 3_400, 3_900], [3_100, 3_900, 4_700], 0),
            receipt: counts([3_100, 9_200, 15_000], [3_200, 30_000, 90_000], 0))
        return [visit, purchase]
    }

    /// Each further notification costs a tenth of the answers, and people who answer much get more.
    private static var pressure: Pressure {
        Pressure(
            steps: (1...10).map { number in
                let (received, rate) = (Int64(22_000 / number), 0.14 + Double(number) / 200)
                var step = Pressure.Step(number: number)
                (step.received, step.responded) = (received, Int64(Double(received) * rate))
                (step.turnedOff, step.compared) = (Int64(number), Rate(step.responded, of: received))
                step.expectedAlike = Double(step.responded) / (1.2 - 0.1 * Double(number - 1))
                step.expected = step.expectedAlike * (number > 5 ? 0.5 : 1)
                return step
            })
    }

    private static func experiment(
        _ name: String, control: Int64, treated: Int64, exposed: Int64 = 0, campaigns: [String] = ["black-friday"],
        reached: [(String, Int64, Int64)] = []
    ) -> ExperimentSummary {
        var experiment = ExperimentSummary(
            name: name, control: 10, starts: Timestamp(microseconds: 1_794_000_000_000_000), campaigns: campaigns)
        let arms = ExperimentSummary.Arms(
            control: control, treated: treated, exposed: (control: exposed, treated: treated / 2),
            turnedOff: (control: control / 200, treated: treated / 150))
        experiment.take(
            reached.map { ExperimentSummary.Counts(goal: $0.0, arms: arms, treatedReached: $0.1, controlReached: $0.2) }
        )
        experiment.arms = arms
        return experiment
    }

    /// One of each kind: found, not found, too few, harm with a leak, and arms that are not what was drawn.
    private static var experiments: [ExperimentSummary] {
        [
            experiment(
                "black-friday", control: 10_012, treated: 89_988, reached: [("purchase", 9_911, 902), ("visit", 9, 1)]),
            experiment("cart", control: 5_001, treated: 44_999, campaigns: [], reached: [("", 4_512, 498)]),
            experiment("nagging", control: 9_990, treated: 90_010, exposed: 180, reached: [("renewal", 8_105, 1_090)]),
            experiment("reminder", control: 9_100, treated: 90_900, reached: [("purchase", 9_911, 902)]),
            ExperimentSummary(name: "long-ago", control: 50, starts: Timestamp(microseconds: 1_700_000_000_000_000)),
        ]
    }

    private static func headline(of counts: FunnelCounts) -> Headline {
        let (yesterday, fridays) = (Rate(5_640, of: 32_766), Rate(14_440, of: 92_504))
        return Headline(
            counts: counts,
            previous: .init(
                days: [date(2026, 11, 19)], delivered: 38_904, responseRate: yesterday.value, pooled: yesterday,
                receiptCoverage: 0.8422, verdict: TwoProportions.verdict(counts.responseRate, against: yesterday)),
            usual: .init(
                days: [date(2026, 11, 13), date(2026, 11, 6), date(2026, 10, 30)], delivered: 36_210,
                responseRate: 0.1561, pooled: fridays, receiptCoverage: 0.8561,
                verdict: TwoProportions.verdict(counts.responseRate, against: fridays)))
    }

    /// Four weeks that grow slowly, with the last two days still changing.
    private static func trend(to counts: FunnelCounts) -> [TrendPoint] {
        (0...28).map { place in
            var earlier = counts
            earlier.delivered -= Int64(28 - place) * 310
            earlier.received = earlier.delivered * 85 / 100 + Int64(place % 5) * 100
            earlier.receivedResponded = earlier.received * Int64(150 + place % 7 * 3) / 1000
            return TrendPoint(
                day: day.advanced(by: place - 28), counts: place < 28 ? earlier : counts, isSettled: place < 27)
        }
    }

    private static var movers: [Mover] {
        func mover(_ category: String, _ rate: Rate, usual: Double, pooled: Rate) -> Mover {
            Mover(
                category: category, delivered: rate.whole * 11 / 10, rate: rate, usual: usual, pooled: pooled,
                verdict: TwoProportions.verdict(rate, against: pooled))
        }
        return [
            mover("PW_STORIES", Rate(2_880, of: 18_201), usual: 0.131, pooled: Rate(7_020, of: 53_600)),
            mover("ACCEPT_DECISION", Rate(1_688, of: 8_603), usual: 0.221, pooled: Rate(5_640, of: 25_500)),
            mover(HostileNames.script, Rate(20, of: 402), usual: 0.06, pooled: Rate(60, of: 1_010)),
        ]
    }

    private static var restated: [Restatement] {
        var told = DayFigures()
        (told.delivered, told.received, told.responded, told.receivedResponded) = (38_120, 32_004, 5_950, 5_320)
        (told.dismissed, told.stories, told.storiesCompleted, told.woken) = (1_180, 5_702, 2_110, 8_801)
        var now = told
        (now.delivered, now.received, now.responded, now.receivedResponded) = (38_904, 32_766, 6_300, 5_640)
        var older = told
        older.dismissed += 3
        return [
            Restatement(day: date(2026, 11, 19), told: told, toldAt: 46_990, now: now),
            Restatement(day: date(2026, 11, 16), told: told, toldAt: 44_102, now: older),
        ]
    }

    private static var categories: [CategorySummary] {
        var stories = CategorySummary(name: "PW_STORIES", counts: FunnelCounts())
        stories.counts = counts(22_140, received: 18_201, opened: 2_711, dismissed: 602)
        (stories.counts.expanded, stories.counts.storyActionTapped) = (6_402, 1_311)
        (stories.counts.responded, stories.counts.receivedResponded) = (3_402, 2_880)
        stories.counts.unanswered = stories.counts.delivered - stories.counts.responded - stories.counts.dismissed
        stories.counts.mediaAttached = 17_410
        stories.launches = [
            .init(state: "cold", opened: 1_702), .init(state: "warm", opened: 804),
            .init(state: "foreground", opened: 190),
            .init(state: "", opened: 15),
        ]
        var decision = CategorySummary(name: "ACCEPT_DECISION", counts: FunnelCounts())
        decision.counts = counts(9_480, received: 8_603, opened: 702, dismissed: 340)
        (decision.counts.expanded, decision.counts.actionTapped) = (1_902, 1_204)
        (decision.counts.responded, decision.counts.receivedResponded) = (1_806, 1_688)
        decision.counts.unanswered = decision.counts.delivered - decision.counts.responded - decision.counts.dismissed
        decision.actions = [
            .init(id: "ACCEPT", tappedDeliveries: 902, taps: 911, foregroundTaps: 911, timed: 866, medianSeconds: 41.5),
            .init(id: "DECLINE", tappedDeliveries: 288, taps: 288, foregroundTaps: 0, timed: 270, medianSeconds: 12),
            .init(
                id: HostileNames.svg, tappedDeliveries: 21, taps: 22, foregroundTaps: 1, timed: 0, medianSeconds: nil),
        ]
        decision.buttons = [
            Button(
                id: "ACCEPT", position: 1, title: "Yes, take it", answer: "accept", exposures: 41_022,
                tappedDeliveries: 20_120, taps: 20_390, tapRate: 20_120.0 / 41_022, verdict: .tapped),
            Button(
                id: "DECLINE", position: 2, title: "ไม่เอา", answer: "decline", exposures: 41_022,
                tappedDeliveries: 6_301, taps: 6_302, tapRate: 6_301.0 / 41_022, verdict: .tapped),
            Button(
                id: "HOLDING", position: 3, title: "Later", answer: "later", exposures: 41_022, tappedDeliveries: 214,
                taps: 214, tapRate: 214.0 / 41_022, verdict: .tapped),
            Button(
                id: "CLOSE", position: 4, title: "Close", answer: "close", exposures: 1_902, tappedDeliveries: 0,
                taps: 0, tapRate: 0, verdict: .untapped, rateBound: TwoProportions.bound(ofNoneIn: 1_902)),
            Button(
                id: "OLD", position: nil, title: "Old", exposures: nil, tappedDeliveries: 12, taps: 12,
                verdict: .retired),
            Button(id: HostileNames.svg, tappedDeliveries: 840, taps: 850, verdict: .unregistered),
        ]
        decision.answers = [
            .init(answer: "accept", tappedDeliveries: 902, taps: 911),
            .init(answer: "decline", tappedDeliveries: 288, taps: 288),
            .init(answer: "", tappedDeliveries: 21, taps: 22),
        ]
        decision.dismissRate = 340.0 / 9_480
        decision.launches = [.init(state: "cold", opened: 502), .init(state: "warm", opened: 200)]
        var cart = CategorySummary(
            name: "CART_REMINDER", counts: counts(6_720, received: 5_742, opened: 744, dismissed: 160))
        cart.counts.suppressed = 206
        cart.actions = [
            .init(
                id: "CHECKOUT", tappedDeliveries: 210, taps: 230, foregroundTaps: 230, timed: 204, medianSeconds: 7_260)
        ]
        (cart.counts.actionTapped, cart.counts.expanded) = (210, 980)
        cart.buttons = [
            Button(
                id: "CHECKOUT", position: 1, title: "Check out", answer: "accept", tappedDeliveries: 4_100, taps: 4_290,
                verdict: .tapped),
            Button(id: "LATER", position: 2, tappedDeliveries: 0, taps: 0, verdict: .exposureUnknown),
            Button(
                id: "NEVER", position: 3, title: "Never again", answer: "close", tappedDeliveries: 0, taps: 0,
                verdict: .mayBeCutOff),
        ]
        cart.answers = [.init(answer: "close", tappedDeliveries: 0, taps: 0)]
        var script = CategorySummary(
            name: HostileNames.script, counts: counts(1_204, received: 1_001, opened: 101, dismissed: 8))
        script.counts.expanded = 12
        var image = CategorySummary(
            name: HostileNames.image, counts: counts(402, received: 366, opened: 31, dismissed: 1))
        image.counts.suppressed = 11
        let arabic = CategorySummary(
            name: HostileNames.arabic, counts: counts(210, received: 181, opened: 20, dismissed: 0))
        let long = CategorySummary(
            name: HostileNames.long, counts: counts(64, received: 0, opened: 3, dismissed: 0))
        let none = CategorySummary(name: "", counts: counts(42, received: 42, opened: 0, dismissed: 0))
        return [stories, decision, cart, script, image, arabic, long, none]
    }

    private static var stories: [StorySummary] {
        var friday = story(
            "PW_STORIES", "black-friday", pages: [5_204, 4_410, 3_180, 2_604, 2_390],
            exits: .init(clicked: 1_204, finished: 1_986, fallback: 402, abandoned: 2_014))
        let titles = ["Half off everything", "Shoes", HostileNames.thai, nil, HostileNames.image]
        for (place, title) in titles.enumerated() {
            friday.pages[place].title = title
            friday.pages[place].declaredMilliseconds = 5_000
            friday.pages[place].autoAdvances = place == 4 ? 0 : friday.pages[place].dwells / 3
            friday.pages[place].manualAdvances = place == 4 ? 0 : friday.pages[place].dwells / 2
        }
        friday.pages[3].unexplainedAdvances = 12
        friday.faults = [
            .init(declaredIndex: 4, kind: .noImage), .init(declaredIndex: 5, kind: .buttonWithoutLink),
        ]
        return [
            friday,
            story(
                "PW_STORIES", HostileNames.hebrew, pages: [610, 502, 480],
                exits: .init(clicked: 107, finished: 320, fallback: 0, abandoned: 183)),
        ]
    }

    private static func story(
        _ category: String, _ campaign: String, pages: [Int64], exits: StorySummary.Exits
    ) -> StorySummary {
        let stories = exits.clicked + exits.finished + exits.fallback + exits.abandoned
        var story = StorySummary(
            category: category, campaign: campaign, stories: stories, started: stories - exits.fallback,
            completed: exits.finished, exits: exits)
        let following = pages.dropFirst() + [exits.clicked + exits.finished]
        story.pages = zip(pages, following).enumerated().map { index, reached in
            StorySummary.Page(
                index: index, planned: pages[0], reached: reached.0, shown: reached.0 - 2, views: reached.0 * 11 / 10,
                clicked: index == 0 ? 0 : reached.0 / 14, exited: max(0, reached.0 - reached.1),
                dwellMilliseconds: reached.0 * (4_200 + Int64(index) * 310), dwells: reached.0)
        }
        return story
    }

    private static var stackDepths: [StackDepth] {
        [
            StackDepth(
                scope: .thread, bucket: "1", counts: counts(21_000, received: 18_000, opened: 3_100, dismissed: 600)),
            StackDepth(
                scope: .thread, bucket: "2-4", counts: counts(17_000, received: 14_100, opened: 2_000, dismissed: 400)),
            StackDepth(
                scope: .thread, bucket: "5+", counts: counts(2_262, received: 2_036, opened: 190, dismissed: 111)),
            StackDepth(
                scope: .app, bucket: "1", counts: counts(12_300, received: 10_400, opened: 1_900, dismissed: 400)),
            StackDepth(
                scope: .app, bucket: "2-4", counts: counts(20_000, received: 17_000, opened: 2_500, dismissed: 500)),
            StackDepth(
                scope: .app, bucket: "5+", counts: counts(7_962, received: 6_736, opened: 690, dismissed: 211)),
        ]
    }

    private static var versions: [VersionSummary] {
        [
            version(
                "ios", "4.2.0", counts(20_000, received: 17_600, opened: 2_400, dismissed: 500),
                before: Rate(103_400, of: 117_300)),
            version(
                "ios", "4.3.0-beta.1", counts(18_462, received: 14_868, opened: 2_280, dismissed: 560),
                before: Rate(21_040, of: 24_080)),
            version(
                "ios", "4.3.0", counts(1_800, received: 1_668, opened: 400, dismissed: 51),
                before: Rate(124_440, of: 141_380), isNew: true),
            version("", "", counts(12, received: 3, opened: 1, dismissed: 0), before: Rate(0, of: 0), isNew: true),
        ]
    }

    private static func version(
        _ platform: String, _ version: String, _ counts: FunnelCounts, before: Rate, isNew: Bool = false
    ) -> VersionSummary {
        VersionSummary(
            platform: platform, version: version, counts: counts, before: before, isNew: isNew,
            verdict: TwoProportions.verdict(counts.receiptCoverage, against: before))
    }

    private static var quality: Quality {
        var quality = Quality()
        (quality.accepted, quality.duplicate, quality.rejected) = (214_508, 3_911, 96)
        quality.rejectedByReason = [
            .init(reason: "invalid_time", events: 61), .init(reason: "missing_notification", events: 30),
            .init(reason: "too_large", events: 5),
        ]
        (quality.corrected, quality.clamped, quality.late, quality.clientDropped) = (1_120, 12, 8_045, 340)
        return quality
    }

    /// A morning and an evening rise; the deliveries of the day, each in one hour.
    private static func hours(of counts: FunnelCounts) -> [Hour] {
        let weights: [Int64] = [
            4, 2, 1, 1, 1, 3, 12, 40, 66, 90, 58, 44, 61, 50, 38, 36, 41, 57, 80, 102, 96, 60, 28, 11,
        ]
        let all = weights.reduce(0, +)
        var left = counts
        return weights.enumerated().map { hour, weight in
            let isLast = hour == weights.count - 1
            let received = isLast ? left.received : counts.received * weight / all
            let responded = isLast ? left.receivedResponded : counts.receivedResponded * weight / all
            left.received -= received
            left.receivedResponded -= responded
            return Hour(hour: hour, response: Rate(responded, of: received))
        }
    }

    /// Deliveries that were opened or not, most of the opened with a receipt.
    private static func counts(
        _ delivered: Int64, received: Int64, opened: Int64, dismissed: Int64
    ) -> FunnelCounts {
        var counts = FunnelCounts()
        (counts.delivered, counts.received, counts.expanded, counts.opened) = (delivered, received, opened / 3, opened)
        (counts.responded, counts.receivedResponded) = (opened, min(opened * 9 / 10, received))
        (counts.dismissed, counts.unanswered) = (dismissed, delivered - opened - dismissed)
        counts.mediaAttached = received / 2
        return counts
    }

    private static func sum(_ list: [FunnelCounts]) -> FunnelCounts {
        list.reduce(into: FunnelCounts()) { sum, counts in
            sum.delivered += counts.delivered
            sum.received += counts.received
            sum.expanded += counts.expanded
            sum.opened += counts.opened
            sum.actionTapped += counts.actionTapped
            sum.storyActionTapped += counts.storyActionTapped
            sum.responded += counts.responded
            sum.receivedResponded += counts.receivedResponded
            sum.dismissed += counts.dismissed
            sum.unanswered += counts.unanswered
            sum.suppressed += counts.suppressed
            sum.mediaAttached += counts.mediaAttached
        }
    }

    private static func date(_ year: Int, _ month: Int, _ day: Int) -> CivilDate {
        guard let date = CivilDate(year: year, month: month, day: day) else {
            preconditionFailure("the calendar has no \(year)-\(month)-\(day)")
        }
        return date
    }
}
