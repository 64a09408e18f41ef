internal import Reports
internal import Values

/// A figure day by day, with what is usual behind it.
struct Chart: Sendable {
    enum Unit: Sendable { case count, share }

    struct Point: Sendable {
        var day: CivilDate
        /// Nil where there is no figure, such as a rate of nothing.
        var value: Double?
        /// The lowest and the highest of the days that it is usually like.
        var usual: ClosedRange<Double>?
        /// Whether late events can still change it.
        var isOpen: Bool
        /// What the first final report on the day said, if it has changed since.
        var told: Double?
        /// The same day of the range that it is compared with.
        var compared: Double?
    }

    var title: String
    var unit: Unit
    var points: [Point]
    /// How long a point is: 1 or 7 days.
    var step = 1

    func words(_ value: Double?) -> String {
        guard let value else { return "no figure" }
        return switch unit {
        case .count: Wording.count(Int64(value.rounded()))
        case .share: Wording.percent(value)
        }
    }

    /// The top of the axis: a round figure above all.
    var top: Double {
        let values = points.flatMap { [$0.value, $0.usual?.upperBound, $0.told, $0.compared].compactMap(\.self) }
        let most = values.max() ?? 0
        let least: Double = unit == .share ? 0.01 : 4
        guard most > least else { return least }
        var unit = 1e-6
        while unit * 10 <= most { unit *= 10 }
        let round = [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10].first { unit * $0 >= most * 0.999_999 } ?? 10
        return self.unit == .share ? min(1, unit * round) : unit * round
    }

    /// In a sentence, for whoever does not see it.
    var told: String {
        let known = points.compactMap { point in point.value.map { (point.day, $0) } }
        guard let first = known.first, let last = known.last, let low = known.min(by: { $0.1 < $1.1 }),
            let high = known.max(by: { $0.1 < $1.1 })
        else { return "No figures." }
        return "From \(words(first.1)) on \(Wording.brief(first.0)) to \(words(last.1)) on \(Wording.brief(last.0)); "
            + "lowest \(words(low.1)) on \(Wording.brief(low.0)), highest \(words(high.1)) on \(Wording.brief(high.0))."
    }
}
