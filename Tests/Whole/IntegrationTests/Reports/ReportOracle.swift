import FunnelOracle
import Telemetry
import Values

import struct Foundation.Calendar
import struct Foundation.Date
import struct Foundation.TimeZone

@testable import Reports

/// What a report must say of a day of an app, counted straight from the oracle's deliveries. Settling, dead buttons and
/// data quality aside: of those a few deliveries tell nothing.
struct ReportOracle {
    private let deliveries: [Delivery]
    private let all: [Delivery]
    private let funnels: Funnels
    private let app: Label
    private let day: CivilDate
    private let zone: TimeZone

    /// `deliveries` and `funnels` are those of all apps and days.
    init(_ history: RandomHistory, deliveries: [Delivery], funnels: Funnels, app: String, day: CivilDate) {
        (self.funnels, self.app, self.day) = (funnels, Label(app), day)
        zone = history.timeZone(of: app)
        all = deliveries.filter { $0.name.app == Label(app) && $0.facts.day == day }
        self.deliveries = all.filter { !$0.facts.silent }
    }

    /// The sections of a report that this one says otherwise, a line for each.
    func differences(in report: Report) -> [String] {
        func check<Section: Equatable>(_ name: String, _ found: Section, _ expected: Section) -> String? {
            found == expected ? nil : "\(app) \(day) \(name): \(found), expected \(expected)"
        }
        let names = report.categories.map { Label($0.name) }
        // `FalseDiscoveryTests` try the verdicts.
        let found = report.campaigns.map { campaign in
            var counted = campaign
            counted.variantVerdicts = []
            return counted
        }
        return [
            check("headline", report.headline, headline(isSettled: report.settling.isSettled)),
            check("categories", report.categories, categories),
            check("category names", names, categories.map { Label($0.name) }),
            check("dead actions", report.deadActions, []), check("campaigns", found, campaigns),
            check("stories", report.stories, stories), check("fallback", report.fallbackCost, fallbackCost),
            check("threads", report.threads, threads), check("versions", report.versions, versions),
            check("suppressed", report.suppressed, suppressed), check("silent", report.silent, silent),
            check("media", report.media, media),
            check("media with buttons, which only registered categories can have", report.mediaWithButtons, []),
            check("reach", report.reach, reach),
            check("hours", report.hours, hours),
        ].compactMap { $0 }
    }

    private func headline(isSettled: Bool) -> Headline {
        var counts: [CivilDate: FunnelCounts] = [:]
        for row in funnels.categories where row.key.app == app {
            counts[row.key.day, default: FunnelCounts()].add(FunnelCounts(row.counts))
        }
        return Headline(
            counts: counts, isSettled: isSettled, day: day, others: [7, 14, 21, 28].map { day.advanced(by: -$0) })
    }

    private var categories: [CategorySummary] {
        let rows = funnels.categories.filter { $0.key.app == app && $0.key.day == day }
        return rows.greatestFirst(by: \.counts.delivered) { [$0.key.category] }.map { row in
            var category = CategorySummary(name: row.key.category.text, counts: FunnelCounts(row.counts))
            let actions = funnels.actions.filter {
                $0.key.app == app && $0.key.day == day && $0.key.category == row.key.category
            }
            category.actions = actions.greatestFirst(by: \.tappedDeliveries) { [$0.key.action] }.map { action in
                CategorySummary.Action(
                    id: action.key.action.text, tappedDeliveries: Int64(action.tappedDeliveries),
                    taps: Int64(action.taps), foregroundTaps: Int64(action.foregroundTaps),
                    timed: Int64(action.timed), medianSeconds: nil)
            }
            category.launches = launches(in: row.key.category)
            return category
        }
    }

    private func launches(in category: Label) -> [CategorySummary.Launch] {
        let opened = deliveries.filter { $0.facts.category == category && $0.facts.opened }
        let openings = opened.map { delivery in
            Label(
                delivery.events.lazy.compactMap { event -> Launch? in
                    switch event.interaction {
                    case .opened(let launch): launch
                    case .actionTapped(let tap): tap.launch
                    default: nil
                    }
                }.first?.wire ?? "")
        }
        return Dictionary(grouping: openings) { $0 }.map { (state: $0, opened: $1.count) }
            .greatestFirst(by: \.opened) { [$0.state] }
            .map { CategorySummary.Launch(state: $0.state.text, opened: Int64($0.opened)) }
    }

    private var campaigns: [CampaignSummary] {
        Dictionary(grouping: deliveries, by: \.facts.campaign)
            .map { (name: $0, counts: FunnelCounts(of: $1)) }
            .greatestFirst(by: { Int($0.counts.delivered) }) { [$0.name] }
            .map { name, counts in
                let woken = funnels.silent.filter { $0.key.app == app && $0.key.day == day && $0.key.campaign == name }
                return CampaignSummary(
                    name: name.text, counts: counts, woken: woken.reduce(0) { $0 + Int64($1.woken) },
                    variants: variants(of: name))
            }
    }

    /// None where there is but one.
    private func variants(of campaign: Label) -> [CampaignVariant] {
        let variants = Dictionary(grouping: deliveries.filter { $0.facts.campaign == campaign }, by: \.facts.variant)
            .map { (name: $0, counts: FunnelCounts(of: $1)) }
            .greatestFirst(by: { Int($0.counts.delivered) }) { [$0.name] }
            .map { CampaignVariant(name: $0.name.text, counts: $0.counts) }
        return variants.count > 1 ? variants : []
    }

    private var stories: [StorySummary] {
        let rows = funnels.stories.filter { $0.key.app == app && $0.key.day == day }
        return rows.greatestFirst(by: \.stories) { [$0.key.category, $0.key.campaign, $0.key.variant] }.map { row in
            var story = StorySummary(
                category: row.key.category.text, campaign: row.key.campaign.text, variant: row.key.variant.text,
                stories: Int64(row.stories),
                started: Int64(row.started), completed: Int64(row.completed),
                exits: .init(
                    clicked: Int64(row.exitClicked), finished: Int64(row.exitFinished),
                    fallback: Int64(row.exitFallback), abandoned: Int64(row.exitAbandoned)))
            story.pages = funnels.pages.filter { $0.key.story == row.key }.map { page in
                var told = StorySummary.Page(
                    index: page.key.pageIndex, planned: Int64(page.planned), reached: Int64(page.reached),
                    shown: Int64(page.shown), views: Int64(page.views), clicked: Int64(page.clicked),
                    exited: Int64(page.exited), dwellMilliseconds: page.dwellMS, dwells: Int64(page.dwells))
                // No send tells how long a page was to stand.
                for advances in funnels.advances where advances.key == page.key {
                    (told.autoAdvances, told.manualAdvances) = (Int64(advances.auto), Int64(advances.manual))
                }
                told.unexplainedAdvances = funnels.gaps.filter { $0.key == page.key }
                    .reduce(0) { $0 + Int64($1.advances) }
                return told
            }
            return story
        }
    }

    private var fallbackCost: FallbackCost? {
        let stories = deliveries.filter { $0.facts.story != nil }
        guard !stories.isEmpty else { return nil }
        func rate(_ isMeant: (StoryExit) -> Bool) -> Reports.Rate {
            FunnelCounts(of: stories.filter { isMeant($0.facts.story!.exit) }).responseRate
        }
        let (fallback, shown) = (rate { $0 == .fallback }, rate { $0 != .fallback })
        return FallbackCost(
            fallback: fallback, shown: shown, verdict: TwoProportions.verdict(fallback, against: shown))
    }

    private var threads: [ThreadSummary] {
        funnels.threads.filter { $0.key.app == app && $0.key.day == day }
            .greatestFirst(by: \.counts.delivered) { [$0.key.thread] }
            .map { ThreadSummary(name: $0.key.thread.text, counts: FunnelCounts($0.counts), items: $0.items) }
    }

    /// None of these versions had a hundred deliveries the week before.
    private var versions: [VersionSummary] {
        let own = funnels.versions.filter { $0.key.app == app }
        let week = day.advanced(by: -7)...day.advanced(by: -1)
        return own.filter { $0.key.day == day }
            .greatestFirst(by: \.counts.delivered) { [$0.key.platform, $0.key.appVersion] }
            .map { row in
                let counts = FunnelCounts(row.counts)
                let before = own.filter { week.contains($0.key.day) && $0.key.platform == row.key.platform }
                    .reduce(Reports.Rate(0, of: 0)) { $0 + FunnelCounts($1.counts).receiptCoverage }
                return VersionSummary(
                    platform: row.key.platform.text, version: row.key.appVersion.text, counts: counts, before: before,
                    isNew: true, verdict: TwoProportions.verdict(counts.receiptCoverage, against: before))
            }
    }

    private var suppressed: [Suppressed] {
        funnels.categories.filter { $0.key.app == app && $0.key.day == day && $0.counts.suppressed > 0 }
            .greatestFirst(by: \.counts.suppressed) { [$0.key.category] }
            .map {
                Suppressed(
                    category: $0.key.category.text,
                    suppressed: Rate(Int64($0.counts.suppressed), of: Int64($0.counts.delivered)))
            }
    }

    private var silent: [SilentSummary] {
        funnels.silent.filter { $0.key.app == app && $0.key.day == day }
            .greatestFirst(by: \.woken) { [$0.key.campaign] }
            .map {
                SilentSummary(
                    campaign: $0.key.campaign.text, woken: Int64($0.woken), newData: Int64($0.newData),
                    noData: Int64($0.noData), failed: Int64($0.failed), noResult: Int64($0.noResult))
            }
    }

    private var media: [MediaSummary] {
        Dictionary(grouping: deliveries.filter { $0.facts.media != nil }) { delivery -> [Label] in
            let media = delivery.facts.media!
            return [media.kind, media.network, media.outcome]
        }
        .map { (names: $0, deliveries: $1) }
        .greatestFirst(by: \.deliveries.count) { $0.names }
        .map { names, deliveries in
            let media = deliveries.compactMap(\.facts.media)
            return MediaSummary(
                kind: names[0].text, network: names[1].text, outcome: names[2].text,
                deliveries: Int64(deliveries.count),
                responded: Int64(deliveries.count { $0.facts.responded }), bytes: media.reduce(0) { $0 + $1.bytes },
                milliseconds: media.reduce(0) { $0 + ($1.ms ?? 0) }, timed: Int64(media.count { $0.ms != nil }))
        }
    }

    private var reach: ReachedInstalls {
        let installs = Dictionary(grouping: deliveries, by: \.name.install).values
        let pushes = installs.map { Int64($0.count) }.sorted()
        var reach = ReachedInstalls()
        reach.reached = Int64(installs.count)
        reach.responding = Int64(installs.count { $0.contains(where: \.facts.responded) })
        // The smallest that at least so many in 100 do not exceed.
        reach.pushesP50 = pushes.first { push in pushes.count { $0 <= push } * 100 >= pushes.count * 50 }
        reach.pushesP95 = pushes.first { push in pushes.count { $0 <= push } * 100 >= pushes.count * 95 }
        return reach
    }

    private var hours: [Hour] {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let byHour = Dictionary(grouping: deliveries.filter(\.facts.received)) { delivery in
            let seconds = Double(delivery.facts.receivedAt?.microseconds ?? 0) / 1_000_000
            return calendar.component(.hour, from: Date(timeIntervalSince1970: seconds))
        }
        return (0..<24).map { hour in
            let counts = FunnelCounts(of: byHour[hour] ?? [])
            return Hour(hour: hour, response: counts.responseRate)
        }
    }
}

extension FunnelCounts {
    fileprivate init(_ counts: DeliveryCounts) {
        self.init(
            delivered: Int64(counts.delivered), received: Int64(counts.received), expanded: Int64(counts.expanded),
            opened: Int64(counts.opened), actionTapped: Int64(counts.actionTapped),
            storyActionTapped: Int64(counts.storyActionTapped), responded: Int64(counts.responded),
            receivedResponded: Int64(counts.receivedResponded), dismissed: Int64(counts.dismissed),
            unanswered: Int64(counts.unanswered), suppressed: Int64(counts.suppressed),
            mediaAttached: Int64(counts.mediaAttached))
    }

    fileprivate init(of deliveries: [Delivery]) {
        func count(_ isMeant: (DeliveryFacts) -> Bool) -> Int64 { Int64(deliveries.count { isMeant($0.facts) }) }
        self.init(
            delivered: Int64(deliveries.count), received: count(\.received), expanded: count(\.expanded),
            opened: count(\.opened), actionTapped: count(\.actionTapped),
            storyActionTapped: count(\.storyActionTapped), responded: count(\.responded),
            receivedResponded: count(\.receivedResponded), dismissed: count(\.dismissed),
            unanswered: count(\.unanswered), suppressed: count(\.suppressed), mediaAttached: count(\.mediaAttached))
    }

    fileprivate mutating func add(_ other: FunnelCounts) {
        delivered += other.delivered
        received += other.received
        expanded += other.expanded
        opened += other.opened
        actionTapped += other.actionTapped
        storyActionTapped += other.storyActionTapped
        responded += other.responded
        receivedResponded += other.receivedResponded
        dismissed += other.dismissed
        unanswered += other.unanswered
        suppressed += other.suppressed
        mediaAttached += other.mediaAttached
    }
}

extension Sequence {
    /// The greatest first, and what is equal by its names.
    fileprivate func greatestFirst(by size: (Element) -> Int, then names: (Element) -> [Label]) -> [Element] {
        sorted { left, right in
            let sizes = (size(left), size(right))
            return sizes.0 == sizes.1 ? names(left).lexicographicallyPrecedes(names(right)) : sizes.0 > sizes.1
        }
    }
}
