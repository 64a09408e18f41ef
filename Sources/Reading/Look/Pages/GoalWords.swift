internal import Reports
internal import ServiceRuntime
internal import Values

/// What the rows of one goal mean, in words.
struct GoalWords {
    private let rows: [Grid.Row]
    private let goal: String

    init(_ rows: [Grid.Row], goal: String) { (self.rows, self.goal) = (rows, goal) }

    /// The currency of the most; names of one spelling.
    static func main(_ rows: [Grid.Row]) -> ExactName {
        let first = rows.filter { $0.text("rule") == "response" }.first ?? rows.first
        return ExactName(first?.text("currency") ?? "")
    }

    /// What followed, by each rule. Deliveries of two currencies cannot be added up, so the one with the most is told.
    var found: [Sight.Piece] {
        let currency = Self.main(rows)
        let words = GoalPage.Rule.allCases.compactMap { rule -> String? in
            let own = rows.first {
                $0.text("rule") == rule.rawValue && ExactName($0.text("currency") ?? "") == currency
            }
            return own.map { told($0, rule) }
        }
        guard !words.isEmpty else {
            return [.words("\(Wording.name(goal)) was not reached within 7 days after a notification of these days.")]
        }
        return words.map { .words($0) }
    }

    private func told(_ row: Grid.Row, _ rule: GoalPage.Rule) -> String {
        let (converted, whole) = (row.count("converted_24h"), row.count("notifications"))
        let share = Rate(converted, of: whole)
        var words =
            "\(Wording.name(goal)) came within 24 hours after \(Wording.count(converted)) of \(Wording.count(whole)) "
            + "notifications \(rule.happened) (\(Wording.percent(share)))"
        if let value = row.number("value_24h"), value > 0 {
            words += ", and was worth \(Money.text(value, row.text("currency") ?? ""))"
        }
        return words + "."
    }

    /// What the figures cannot say.
    static let caution =
        "This is what followed notifications, not what they brought: whoever buys every day buys after a notification, "
        + "too. Each goal counts once after the last response and once after the last receipt before it, so do not add "
        + "up the two. Only an experiment tells what would have happened without the notifications."

    /// Within which time half of the goals of a week came, of rows from the shortest time to the longest.
    static func half(_ rows: [Grid.Row]) -> Sight.Piece? {
        guard let all = rows.last?.count("converted"), all > 0,
            let half = rows.first(where: { 2 * $0.count("converted") >= all })
        else { return nil }
        return .words(
            "Of those that came within 7 days, half came within \(Columns.minutes(half.count("within_minutes"))). What "
                + "follows within minutes has more to do with the notification than what follows after days.")
    }
}

/// A sum of money.
enum Money {
    /// `12,345.60 EUR`
    static func text(_ value: Double, _ currency: String = "") -> String {
        let cents = Int64(saturating: (value * 100).rounded())
        let (whole, rest) = cents.magnitude.quotientAndRemainder(dividingBy: 100)
        let sign = cents < 0 ? "−" : ""
        let text = "\(sign)\(Wording.count(Int64(clamping: whole))).\(String(rest, digits: 2))"
        return currency.isEmpty ? text : "\(text) \(currency)"
    }
}
