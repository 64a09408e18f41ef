internal import Postgres
internal import Reports
internal import Values

/// What the pages of an app, a category and a campaign show alike.
enum FunnelParts {
    /// The figures of the chosen days, each compared.
    static func figures(_ answer: Answer, _ scope: Scope) -> [Sight.Piece] {
        let row = { (name: String) in answer.grid.rows.first { $0.text("days") == name } }
        guard let now = row("chosen"), now.count("delivered") > 0 else {
            return [.words("No delivery in these days."), .source(answer)]
        }
        let then = scope.isComparable ? row("compared") : nil
        var figures = [
            Figure(
                "Delivered", Wording.count(now.count("delivered")),
                detail: change(now.count("delivered"), then?.count("delivered") ?? 0, scope))
        ]
        var verdicts: [(String, Rate, Rate, Significance)] = []
        for (title, part, whole) in [
            ("Response rate", "received_responded", "received"), ("Engagement rate", "received_engaged", "received"),
            ("Receipt coverage", "received", "delivered"),
        ] {
            let rate = Rate(now.count(part), of: now.count(whole))
            var detail = Interval.of(rate).map { "95 %: \(Wording.interval($0))" } ?? ""
            if let then, then.count(whole) > 0, scope.isMostlySettled {
                let base = Rate(then.count(part), of: then.count(whole))
                detail = "\(Wording.points(from: base.value ?? 0, to: rate.value ?? 0)); \(detail)"
                verdicts.append((title, rate, base, TwoProportions.verdict(rate, against: base)))
            }
            figures.append(Figure(title, Wording.percent(rate.value), detail: detail))
        }
        // One set of comparisons is one family.
        let limit = FalseDiscovery.limit(of: verdicts.compactMap(\.3.tested))
        let words = verdicts.map { title, rate, base, verdict in
            "\(title): \(Wording.percent(base.value)) in \(scope.compared), now \(Wording.percent(rate.value)). "
                + verdict.held(to: limit).sentence
        }
        let why: Sight.Piece? =
            scope.isMostlySettled
            ? nil
            : .words(
                "Too early to compare these days with others: "
                    + "receipts still arrive, so counts and receipt coverage rise.",
                .note)
        return [.block(.figures(figures))] + words.map { .words($0, .note) }
            + [why, .source(answer)].compactMap(\.self)
    }

    /// How a count differs from that of the days compared. Of more days or fewer, what counts is a day's.
    private static func change(_ now: Int64, _ then: Int64, _ scope: Scope) -> String {
        // The report has the same rule: days that still grow are no measure beside complete ones.
        guard scope.isMostlySettled else { return "too early to compare" }
        let (days, others) = (Int64(scope.days.count), Int64(scope.compared.count))
        let isAlike = days == others
        let before = isAlike ? then : (then + others / 2) / others
        guard let change = Wording.change(from: before, to: isAlike ? now : (now + days / 2) / days) else {
            return "nothing to compare with"
        }
        return isAlike
            ? "\(change) from \(Wording.count(before))" : "\(change) a day, from \(Wording.count(before)) a day"
    }

    /// The funnel as bars, from all that left a trace to those that engaged.
    static func ladder(_ answer: Answer, caption: String) -> Sight.Piece? {
        guard let row = answer.grid.rows.first(where: { $0.text("days") == "chosen" }), row.count("delivered") > 0
        else {
            return nil
        }
        return .block(
            .ladder(Ladder.of(row, caption, ["delivered", "received", "received_responded", "received_engaged"])))
    }

    /// Charts of deliveries, response, engagement and coverage.
    static func trends(_ answer: Answer, _ scope: Scope, _ state: PageState, compared: Answer?) -> [Sight.Piece] {
        guard !answer.grid.rows.isEmpty else { return [.words("No delivery in these days.", .note)] }
        let charts: [(String, Chart.Unit, String, String)] = [
            ("Deliveries", .count, "delivered", "delivered"), ("Response rate", .share, "response_rate", "response"),
            ("Engagement rate", .share, "engagement_rate", "engagement"),
            ("Receipt coverage", .share, "receipt_coverage", "coverage"),
        ]
        let drawn = charts.map { title, unit, column, usual in
            trend(
                title, unit, column, usual: usual, told: "told_\(column)", answer.grid, scope, state.step,
                compared: state.compared == nil ? nil : compared?.grid)
        }
        var words =
            state.step == .day
            ? "Behind each line: the lowest to the highest of the same weekday in the four weeks before. "
            : "By week; the first and the last may be parts of one. "
        words += "Dashed on grey: days that are not settled." + (beginning(of: drawn, scope, state.step) ?? "")
        if drawn.contains(where: { $0.points.contains { $0.told != nil } }) {
            words +=
                " A red mark shows what the first final report on a day said, "
                + "where late events have changed it by 2 % or more."
        }
        return [.trends(drawn), .words(words, .note), .source(answer)]
    }

    static func trend(
        _ title: String, _ unit: Chart.Unit, _ column: String, usual: String = "", told: String = "", _ grid: Grid,
        _ scope: Scope, _ step: PageState.Step, compared: Grid? = nil
    ) -> Chart {
        let rows = Dictionary(
            grid.rows.compactMap { row in row.day("day").map { ($0, row) } }, uniquingKeysWith: { first, _ in first })
        let earlier = Dictionary(
            (compared?.rows ?? []).compactMap { row in row.day("day").map { ($0, row) } },
            uniquingKeysWith: { first, _ in first })
        let width = step == .day ? 1 : 7
        let known = rows.keys.min()
        let recorded = scope.onRecord(from: known)
        let drawn = earlier.isEmpty ? recorded : scope.days
        let days: [CivilDate] = step == .day ? drawn.days : grid.rows.compactMap { $0.day("day") }
        let points = days.enumerated().map { place, day in
            let place = step == .day ? day.daysSince1970 - scope.days.first.daysSince1970 : place
            let row = rows[day]
            // Before the first day that is on record, nothing is known; after it, no row means none.
            let value = row?.number(column) ?? (unit == .count && day >= recorded.first ? 0 : nil)
            var point = Chart.Point(day: day, value: value, isOpen: day.advanced(by: width - 1) >= scope.firstOpenDay)
            if let low = row?.number(usual + "_low"), let high = row?.number(usual + "_high"), low <= high {
                point.usual = low...high
            }
            if let said = row?.number(told), let value, abs(said - value) >= 0.02 * value, said != value {
                point.told = said
            }
            if place < scope.compared.count {
                point.compared = earlier[scope.compared.first.advanced(by: place)]?.number(column)
            }
            return point
        }
        return Chart(title: title, unit: unit, points: points, step: width)
    }

    /// That days are left out of charts, since nothing is on record there.
    static func beginning(of charts: [Chart], _ scope: Scope, _ step: PageState.Step = .day) -> String? {
        guard step == .day, let first = charts.first?.points.first?.day, first > scope.days.first else { return nil }
        return " Nothing is on record before \(Wording.brief(first)), so the charts begin there."
    }

    /// Day or week.
    static func steps(_ state: PageState) -> Sight.Piece {
        .links(
            PageState.Step.allCases.map { step in
                var other = state
                other.step = step
                return Sight.Link(text: "By \(step.rawValue)", address: other.address, isCurrent: step == state.step)
            })
    }
}

extension Ladder {
    /// Steps from the columns of a row, each a share of the first.
    static func of(_ row: Grid.Row, _ caption: String, _ columns: [String]) -> Ladder {
        let base = Double(max(row.count(columns.first ?? ""), 1))
        let steps = columns.map { column in
            Ladder.Step(Columns.title(column), value: row.count(column), share: Double(row.count(column)) / base)
        }
        let table = Table(
            caption,
            columns: [
                .name("Step"), .number("Count"), .number("Of \((steps.first?.label ?? "all").lowercased())"),
            ],
            rows: steps.map {
                [Table.Cell($0.label), Table.Cell(Wording.count($0.value)), Table.Cell(Wording.percent($0.share))]
            })
        return Ladder(caption, steps: steps, table: table)
    }
}
