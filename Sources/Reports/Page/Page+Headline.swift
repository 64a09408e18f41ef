extension Page {
    static func headline(_ report: Report) -> Section? {
        let counts = report.headline.counts
        guard counts.delivered > 0 else {
            let others = report.silent.isEmpty ? "" : " but silent ones"
            return Section("The day", [.sentence("No push left a trace on this day\(others).", .plain)])
        }
        var blocks: [Block] = [
            .figures([
                Figure("Deliveries", Wording.count(counts.delivered), detail: deliveryDetail(report.headline)),
                Figure(
                    "Response rate", Wording.percent(counts.responseRate),
                    detail: "\(Wording.count(counts.receivedResponded)) of \(Wording.count(counts.received)) received"),
                Figure(
                    "Receipt coverage", Wording.percent(counts.receiptCoverage),
                    detail: "\(Wording.count(counts.received)) of \(Wording.count(counts.delivered)) delivered"),
            ])
        ]
        if let previous = report.headline.previousDay {
            blocks.append(comparison("the day before", previous, with: counts))
        }
        if let usual = report.headline.sameWeekdays {
            let several = usual.days.count > 1 ? " (median of \(usual.days.count))" : ""
            blocks.append(comparison(name(of: usual) + several, usual, with: counts))
        }
        if report.settling.hoursSinceEnd >= 0, report.headline.previousDay == nil,
            report.headline.sameWeekdays == nil
        {
            blocks.append(.sentence("There is no earlier day to hold it against.", .plain))
        }
        blocks.append(
            .sentence(
                "Deliveries are notifications of which any event is on file; one that was neither reported as received "
                    + "nor touched leaves no trace. Rates are compared by a two-proportion z test, two-sided, or Fisher's "
                    + "exact test with fewer than 10 expected of either kind; p < .01 is called more than chance, and a "
                    + "small sample what shows none of few.", .note))
        return Section("The day", blocks)
    }

    private static func deliveryDetail(_ headline: Headline) -> String {
        let now = headline.counts.delivered
        let changes = [
            headline.previousDay.flatMap { Wording.change(from: $0.delivered, to: now) }.map {
                "\($0) on the day before"
            },
            headline.sameWeekdays.flatMap { base in
                Wording.change(from: base.delivered, to: now).map { "\($0) on \(name(of: base))" }
            },
        ].compactMap { $0 }
        return changes.joined(separator: ", ")
    }

    private static func name(of sameWeekdays: Headline.Comparison) -> String {
        guard let first = sameWeekdays.days.first else { return "the same weekday" }
        return sameWeekdays.days.count == 1 ? Wording.short(first) : "the usual \(Wording.weekday(first))"
    }

    private static func comparison(_ name: String, _ base: Headline.Comparison, with counts: FunnelCounts) -> Block {
        guard let now = counts.responseRate.value, let before = base.responseRate else {
            return .sentence("Against \(name): no response rate to compare, for want of receipts.", .plain)
        }
        let tone: Tone =
            switch base.verdict {
            case .higher: .good
            case .lower: .alarm
            case .likeChance, .smallSample, .unsettled, .divided: .plain
            }
        var words =
            "Response against \(name)\(base.age == .same ? " at the same hour" : ""): \(Wording.percent(before)) then, \(Wording.points(from: before, to: now)) now, "
            + base.verdict.words + "."
        if let was = base.receiptCoverage, let coverage = counts.receiptCoverage.value, abs(was - coverage) >= 0.02 {
            words += " Receipt coverage was \(Wording.percent(was)): mind it when comparing."
        }
        return .sentence(words, tone)
    }
}

extension Verdict {
    /// `which is more than chance makes (p < .001)`
    var words: String {
        switch self {
        case .higher(let p): "higher by more than chance (\(Wording.probability(p)))"
        case .lower(let p): "lower by more than chance (\(Wording.probability(p)))"
        case .likeChance(let p): "no more than chance makes (\(Wording.probability(p)))"
        case .smallSample: "too small a sample to say"
        case .unsettled: "too early to say: receipts still come, and the rate mostly falls as they do"
        case .divided: "and these days differ too much among themselves to say more"
        }
    }
}
