internal import Postgres
internal import Telemetry

/// What people did after the notifications of the day. It follows the experiments, which alone can say what would not
/// have happened without them.
enum GoalsSection: ReportSection {
    static let title = "Goals"
    /// The number of goals that have a sentence and a table of their own.
    private static let mostTold = 3
    private static let mostCampaigns = 6

    static func read(into report: inout Report, _ scope: ReportScope, on connection: inout Connection)
        throws(PostgresError)
    {
        (report.goals, report.otherGoals) = try GoalSummary.read(scope, on: &connection)
    }

    static func words(_ report: Report) -> Page.Section? {
        guard !report.goals.isEmpty else { return nil }
        let told = report.goals.prefix(mostTold)
        return Page.Section(
            title,
            told.map { .sentence(meaning($0, in: report), .plain) } + warnings(report) + [.table(table(report))]
                + RestOfList.words(
                    report.otherGoals, "goal", "goals", \.receipt.convertedInADay, of: "notification after it",
                    "notifications after them")
                + told.filter { $0.campaigns.count > 1 }.flatMap { byCampaign($0, in: report) } + notes(report))
    }

    private static func meaning(_ goal: GoalSummary, in report: Report) -> String {
        let name = Wording.name(goal.name)
        let (receipt, response) = (goal.receipt, goal.response)
        let received = Rate(receipt.convertedInADay, of: report.headline.counts.received)
        let responded = Rate(response.convertedInADay, of: report.headline.counts.responded)
        let worth =
            receipt.valueInADay.millionths > 0 ? ", worth \(receipt.valueInADay.words(in: goal.currency))" : ""
        return
            "\(Wording.percent(received)) of the notifications that arrived were followed by \(name) within 24 hours "
            + "(\(Wording.count(received.part)) of \(Wording.count(received.whole)))\(worth). "
            + "Of those that people responded to, it was \(Wording.percent(responded)) "
            + "(\(Wording.count(responded.part)) of \(Wording.count(responded.whole)))."
    }

    /// What would mislead whoever takes these numbers for what notifications brought about.
    private static func warnings(_ report: Report) -> [Block] {
        [lastOfSeveral(report), late(report), unproved(report)].compactMap { words in
            words.map { .sentence($0, .plain) }
        }
    }

    /// Where people get several notifications, the last of them has all the goals.
    private static func lastOfSeveral(_ report: Report) -> String? {
        guard report.goals.contains(where: { $0.campaigns.count > 1 }) else { return nil }
        let advice =
            "a goal counts for the last one alone. Do not rank campaigns by their goals: what is sent last takes them "
            + "from what was sent before."
        if let crowded = report.pressure.crowded.value, crowded >= 0.5 {
            return "\(Wording.percent(crowded)) of the notifications came within 24 hours after another, and \(advice)"
        }
        guard let pushes = report.reach.pushesP50, pushes > 1 else { return nil }
        return "Half of the installs got \(Wording.count(pushes)) notifications or more on this day, and \(advice)"
    }

    /// What a notification brings about mostly happens soon after it.
    private static func late(_ report: Report) -> String? {
        let late = report.goals.prefix(mostTold).filter { goal in
            let soon = Rate(goal.receipt.inAnHour, of: goal.receipt.goalsInADay)
            return soon.whole >= leastJudged && (soon.value ?? 1) < leastSoon
        }
        guard !late.isEmpty else { return nil }
        let shares = late.map { goal in
            "\(Wording.percent(Rate(goal.receipt.inAnHour, of: goal.receipt.goalsInADay))) of "
                + "\(Wording.name(goal.name))"
        }
        return
            "In the first hour came only \(shares.joined(separator: ", ")). What comes later than that, people mostly "
            + "do anyway."
    }
    private static let leastJudged: Int64 = 20
    private static let leastSoon = 0.3

    private static func unproved(_ report: Report) -> String? {
        let names = Set(report.goals.map { ExactName($0.name) })
        let proving = report.experiments.first { experiment in
            experiment.arms != nil
                && experiment.goals.contains { $0.name.isEmpty || names.contains(ExactName($0.name)) }
        }
        let who = "This is what followed, not what the notifications brought about. "
        return who
            + (proving.map { "Experiment \($0.name) says what its pushes change (see “\(ExperimentsSection.title)”)." }
                ?? "Only an experiment tells what would have happened without them.")
    }

    private static func table(_ report: Report) -> Table {
        let counts = report.headline.counts
        return Table("Followed by a goal within 24 hours", of: report.goals) { goal in
            [
                .text("Goal", Wording.name(goal.name)), .count("After a receipt", goal.receipt.convertedInADay),
                .bar("Of received", Rate(goal.receipt.convertedInADay, of: counts.received)),
                .count("After a response", goal.response.convertedInADay),
                .percent("Of responded", Rate(goal.response.convertedInADay, of: counts.responded)),
                .percent("In the first hour", Rate(goal.receipt.inAnHour, of: goal.receipt.goalsInADay)),
                .number("Value", value(goal.receipt.valueInADay, goal.currency)),
            ]
        }
    }

    private static func byCampaign(_ goal: GoalSummary, in report: Report) -> [Block] {
        var funnels: [ExactName: FunnelCounts] = [:]
        for campaign in report.campaigns { funnels[ExactName(campaign.name)] = campaign.counts }
        var table = Table("\(Wording.name(goal.name)) by campaign", of: goal.campaigns, most: mostCampaigns) {
            campaign in
            let counts = funnels[ExactName(campaign.name)]
            func rate(_ goals: GoalCounts, of whole: Int64?) -> Rate { Rate(goals.convertedInADay, of: whole ?? 0) }
            return [
                .name("Campaign", campaign.name, else: CampaignsSection.none),
                .count("After a receipt", campaign.receipt.convertedInADay),
                .bar("Of received", rate(campaign.receipt, of: counts?.received)),
                .count("After a response", campaign.response.convertedInADay),
                .percent("Of responded", rate(campaign.response, of: counts?.responded)),
                .number("Value", value(campaign.receipt.valueInADay, goal.currency)),
            ]
        }
        table.omitted = table.omitted + Int(clamping: goal.otherCampaigns?.entries ?? 0)
        return [.table(table)]
    }

    private static func value(_ amount: Amount, _ currency: String) -> String {
        amount.millionths == 0 ? "–" : amount.words(in: currency)
    }

    private static func notes(_ report: Report) -> [Block] {
        let hours = report.settling.hoursSinceEnd
        let fresh =
            hours < 24
            ? "The \(report.period.word) ended \(Wording.hours(max(hours, 0))) ago, so the 24 hours of its last "
                + "notifications "
                + "are not over. " : ""
        return [
            .sentence(
                fresh + "Goals count on the day of the notification. The value is that of goals after a receipt.", .note
            )
        ]
    }

    static func facts(_ report: Report) -> [EntryList] {
        func rules<Counts>(
            _ all: Counts, _ receipt: KeyPath<Counts, GoalCounts>, _ response: KeyPath<Counts, GoalCounts>
        ) -> [Fact] {
            [
                .facts("receipt", all[keyPath: receipt].facts(withValue: false)),
                .facts("response", all[keyPath: response].facts(withValue: false)),
            ]
        }
        return .list("goal_funnel", report.goals) { goal in
            Entry(
                keys: [.text("goal", goal.name), .text("currency", goal.currency)],
                facts: [
                    .facts("receipt", goal.receipt.facts(withValue: true)),
                    .facts("response", goal.response.facts(withValue: true)),
                ],
                lists: .list("goal_campaigns", goal.campaigns) { campaign in
                    Entry(
                        keys: [.text("campaign", campaign.name)],
                        facts: [
                            .facts("receipt", campaign.receipt.facts(withValue: true)),
                            .facts("response", campaign.response.facts(withValue: true)),
                        ])
                } + RestOfList.facts("other_goal_campaigns", goal.otherCampaigns) { rules($0, \.receipt, \.response) })
        } + RestOfList.facts("other_goals", report.otherGoals) { rules($0, \.receipt, \.response) }
    }
}
