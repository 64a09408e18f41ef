internal import Postgres
internal import Telemetry
internal import Values

/// Deliveries, response rate and receipt coverage of the day or week, compared with others.
enum HeadlineSection: ReportSection {
    static func read(into report: inout Report, _ scope: ReportScope, on connection: inout Connection)
        throws(PostgresError)
    {
        report.closingButtons = scope.closingButtons
        report.dismissals = try Dismissals.read(scope, on: &connection)
        report.trend = try TrendPoint.read(scope, settling: report.settling, on: &connection)
        report.headline = try Headline.read(scope, report.trend, settling: report.settling, on: &connection)
    }

    static func eachVerdict(_ report: inout Report, _ visit: (inout Significance) -> Void) {
        report.headline.previous?.eachVerdict(visit)
        report.headline.usual?.eachVerdict(visit)
    }

    static func deeds(_ report: Report) -> [Deed] {
        guard let base = report.headline.usual, base.leading.verdict.isLower, let was = base.leading.rate else {
            return []
        }
        let counts = report.headline.counts
        let now = report.leadsWithEngagement ? counts.engagementRate : counts.responseRate
        let category = MoversSection.moved(report).fell.first.map { mover in
            "; \(Wording.name(mover.category, else: CategoriesSection.none)) fell most "
                + "(\(Wording.percent(mover.usual)) → \(Wording.percent(mover.rate)))"
        }
        return [
            Deed(
                urgency: .fallen, deliveries: counts.delivered,
                ask: "Look for what changed",
                why:
                    "the \(report.leadingRate) is \(Wording.percent(now)), and \(base.name) has "
                    + "\(Wording.percent(was))\(category ?? "")", section: title(report),
                subject: .everything)
        ]
    }

    static func words(_ report: Report) -> Page.Section? {
        let (headline, counts) = (report.headline, report.headline.counts)
        guard counts.delivered > 0 else {
            let words = report.silent.isEmpty ? "No push left a trace" : "Only silent pushes left a trace"
            return Page.Section(title(report), [.sentence("\(words) \(report.period.time).", .plain)])
        }
        let engagement = Figure(
            "Engagement rate", Wording.percent(counts.engagementRate), detail: detail(counts.engagementRate))
        var blocks: [Block] = [
            .figures(
                [Figure("Deliveries", Wording.count(counts.delivered), detail: changes(report))]
                    + (report.leadsWithEngagement ? [engagement] : []) + [
                        Figure(
                            "Response rate", Wording.percent(counts.responseRate),
                            detail: detail(counts.responseRate)),
                        Figure(
                            "Receipt coverage", Wording.percent(counts.receiptCoverage),
                            detail: "\(Wording.count(counts.received)) "
                                + "of \(Wording.count(counts.delivered)) delivered"),
                    ])
        ]
        if report.leadsWithEngagement {
            blocks.append(
                .sentence(
                    "Engagement is response without the "
                        + "\(Wording.count(counts.receivedClosed, "received delivery", "received deliveries")) whose "
                        + "only response was a button that closes or declines, as the buttons are registered now.",
                    .plain))
        }
        if counts.lacksReceiptsOfResponses {
            blocks.append(
                .sentence(
                    "Only \(Wording.percent(Rate(counts.receivedResponded, of: counts.responded))) of those who "
                        + "responded have a receipt, so the rates above are probably too low.", .plain))
        }
        // An app's second week has but one week to be compared with.
        if let previous = headline.previous, headline.usual?.days != previous.days {
            blocks.append(comparison("the \(report.period.word) before", previous, with: counts))
        }
        if let usual = headline.usual {
            let (number, day) = (usual.days.count, usual.days.first)
            let kind = usual.areWeeks ? "week" : day.map(Wording.weekday) ?? ""
            blocks.append(
                comparison(number > 1 ? "the median of \(number) earlier \(kind)s" : usual.name, usual, with: counts))
        }
        if report.settling.hoursSinceEnd >= 0, headline.previous == nil, headline.usual == nil {
            blocks.append(.sentence("There is no earlier \(report.period.word) to compare with.", .plain))
        }
        return Page.Section(title(report), blocks)
    }

    static func facts(_ report: Report) -> [EntryList] {
        let headline = report.headline
        let comparisons: [Fact] = [
            .facts("previous", headline.previous.map(facts)), .facts("usual", headline.usual.map(facts)),
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

    /// What a rate is made of, and how far it may be from the true one.
    private static func detail(_ rate: Rate) -> String {
        "\(Wording.count(rate.part)) of \(Wording.count(rate.whole)) received"
            + (Interval.of(rate).map { "; 95 % interval: \(Wording.interval($0))" } ?? "")
    }

    private static func changes(_ report: Report) -> String {
        let headline = report.headline
        return [
            (
                headline.usual?.days == headline.previous?.days ? nil : headline.previous,
                "the \(report.period.word) before"
            ),
            (headline.usual, headline.usual?.name ?? ""),
        ]
        .compactMap { base, name in
            // A day that still grows is no measure beside one that is complete.
            guard base?.age == .same || report.settling.isSettled else { return nil }
            return Wording.change(from: base?.delivered ?? 0, to: headline.counts.delivered).map { "\($0) vs. \(name)" }
        }.joined(separator: ", ")
    }

    static func title(_ report: Report) -> String { "The \(report.period.word)" }

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
            case .likeChance, .smallSample, .unsettled, .divided, .otherCoverage, .beyondWhole: .plain
            }
        let words =
            "The \(what) rate \(Wording.movement(from: before, to: now)) against \(name)"
            + "\(base.age == .same ? " at the same hour" : "") "
            + "(\(Wording.percent(before)) → \(Wording.percent(now))). \(verdict.sentence)"
        return .sentence(words, tone)
    }
}

/// How the report counts and judges: small print, at the end.
enum MethodSection: ReportSection {
    static func words(_ report: Report) -> Page.Section? {
        guard report.headline.counts.delivered > 0 else { return nil }
        return Page.Section(
            "How this is counted",
            [
                .sentence(
                    "Rates are compared by a two-sided two-proportion z test, or by Fisher's exact test where fewer "
                        + "than 10 of either kind are expected. A difference with p < .01 is called more than chance. "
                        + "If Fisher's test finds none, the sample is called too small.", .note
                )
            ])
    }
}
