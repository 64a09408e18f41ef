internal import Postgres
internal import Telemetry
internal import Values

/// Deliveries, response rate and receipt coverage of the day, compared with other days.
enum HeadlineSection: ReportSection {
    static func read(into report: inout Report, _ scope: ReportScope, on connection: inout Connection)
        throws(PostgresError)
    {
        report.closingButtons = scope.closingButtons
        report.dismissals = try Dismissals.read(scope, isSealed: report.isSealed, on: &connection)
        report.headline = try Headline.read(scope, settling: report.settling, on: &connection)
    }

    static func eachVerdict(_ report: inout Report, _ visit: (inout Verdict) -> Void) {
        report.headline.previousDay?.eachVerdict(visit)
        report.headline.sameWeekdays?.eachVerdict(visit)
    }

    static func deeds(_ report: Report) -> [Deed] {
        guard let base = report.headline.sameWeekdays else { return [] }
        let (counts, engagement) = (report.headline.counts, report.leadsWithEngagement ? base.engagement : nil)
        let (rate, was, verdict) =
            engagement.map { (counts.engagementRate, $0.rate, $0.verdict) }
            ?? (counts.responseRate, base.responseRate, base.verdict)
        guard case .lower = verdict, let now = rate.value, let was else { return [] }
        return [
            Deed(
                urgency: .fallen, deliveries: counts.delivered,
                what: "Look for what changed: the \(engagement == nil ? "response" : "engagement") rate is "
                    + "\(Wording.percent(now)), and \(name(of: base)) has \(Wording.percent(was))", section: "The day")
        ]
    }

    static func words(_ report: Report) -> Page.Section? {
        let (headline, counts) = (report.headline, report.headline.counts)
        guard counts.delivered > 0 else {
            let words = report.silent.isEmpty ? "No push left a trace" : "Only silent pushes left a trace"
            return Page.Section("The day", [.sentence("\(words) on this day.", .plain)])
        }
        let engagement = Figure(
            "Engagement rate", Wording.percent(counts.engagementRate),
            detail: "\(Wording.count(counts.receivedEngaged)) of \(Wording.count(counts.received)) received")
        var blocks: [Block] = [
            .figures(
                [Figure("Deliveries", Wording.count(counts.delivered), detail: changes(headline))]
                    + (report.leadsWithEngagement ? [engagement] : []) + [
                        Figure(
                            "Response rate", Wording.percent(counts.responseRate),
                            detail:
                                "\(Wording.count(counts.receivedResponded)) of \(Wording.count(counts.received)) received"
                        ),
                        Figure(
                            "Receipt coverage", Wording.percent(counts.receiptCoverage),
                            detail: "\(Wording.count(counts.received)) of \(Wording.count(counts.delivered)) delivered"),
                    ])
        ]
        if report.leadsWithEngagement {
            blocks.append(
                .sentence(
                    "Engagement is response without the \(Wording.count(counts.receivedClosed, "received delivery", "received deliveries")) "
                        + "whose only response was a button that closes or declines, as the buttons are registered now.",
                    .plain))
        }
        if let previous = headline.previousDay {
            blocks.append(comparison("the day before", previous, with: counts))
        }
        if let usual = headline.sameWeekdays {
            let (number, day) = (usual.days.count, usual.days.first)
            let median = day.map { "the median of \(number) earlier \(Wording.weekday($0))s" }
            blocks.append(comparison(number > 1 ? median ?? "" : name(of: usual), usual, with: counts))
        }
        if report.settling.hoursSinceEnd >= 0, headline.previousDay == nil, headline.sameWeekdays == nil {
            blocks.append(.sentence("There is no earlier day to compare with.", .plain))
        }
        blocks.append(
            .sentence(
                "A delivery is a notification with at least one event on record. A notification that was neither reported "
                    + "as received nor touched leaves no trace. Rates are compared by a two-sided two-proportion z test, or "
                    + "by Fisher's exact test where fewer than 10 of either kind are expected. A difference with p < .01 is "
                    + "called more than chance. If Fisher's test finds none, the sample is called too small.", .note))
        return Page.Section("The day", blocks)
    }

    static func facts(_ report: Report) -> [EntryList] {
        let headline = report.headline
        let comparisons: [Fact] = [
            .facts("previous_day", headline.previousDay.map(facts)),
            .facts("same_weekdays", headline.sameWeekdays.map(facts)),
        ]
        return [.single("headline", Entry(facts: headline.counts.facts + comparisons))]
    }

    private static func facts(_ base: Headline.Comparison) -> [Fact] {
        [
            .texts("days", base.days.map(\.description)), .text("age", base.age.rawValue),
            .count("delivered", base.delivered), .number("response_rate", base.responseRate),
            .number("receipt_coverage", base.receiptCoverage), .facts("pooled", base.pooled.asResponse),
            .facts("engagement", base.engagement.map(facts)),
        ] + base.verdict.facts
    }

    private static func facts(_ engagement: Headline.Comparison.Engagement) -> [Fact] {
        [
            .number("engagement_rate", engagement.rate),
            .facts(
                "pooled",
                [
                    .count("received", engagement.pooled.whole), .count("received_engaged", engagement.pooled.part),
                    .number("engagement_rate", engagement.pooled.value),
                ]),
        ] + engagement.verdict.facts
    }

    private static func changes(_ headline: Headline) -> String {
        [(headline.previousDay, "the day before"), (headline.sameWeekdays, headline.sameWeekdays.map(name) ?? "")]
            .compactMap { base, name in
                Wording.change(from: base?.delivered ?? 0, to: headline.counts.delivered).map { "\($0) vs. \(name)" }
            }.joined(separator: ", ")
    }

    private static func name(of sameWeekdays: Headline.Comparison) -> String {
        guard let first = sameWeekdays.days.first else { return "the same weekday" }
        return sameWeekdays.days.count == 1 ? Wording.short(first) : "a usual \(Wording.weekday(first))"
    }

    private static func comparison(_ name: String, _ base: Headline.Comparison, with counts: FunnelCounts) -> Block {
        let (what, rate, was, verdict) =
            if let engagement = base.engagement {
                ("engagement", counts.engagementRate, engagement.rate, engagement.verdict)
            } else {
                ("response", counts.responseRate, base.responseRate, base.verdict)
            }
        guard let now = rate.value, let before = was else {
            return .sentence("The \(what) rate cannot be compared with \(name): there are no receipts.", .plain)
        }
        let tone: Tone =
            switch verdict {
            case .higher: .good
            case .lower: .alarm
            case .likeChance, .smallSample, .unsettled, .divided: .plain
            }
        var words =
            "The \(what) rate \(Wording.movement(from: before, to: now)) against \(name)"
            + "\(base.age == .same ? " at the same hour" : "") "
            + "(\(Wording.percent(before)) → \(Wording.percent(now))). \(verdict.sentence)"
        if let was = base.receiptCoverage, let coverage = counts.receiptCoverage.value, abs(was - coverage) >= 0.02 {
            words += " Compare with care: receipt coverage was \(Wording.percent(was))."
        }
        return .sentence(words, tone)
    }
}
