internal import ServiceRuntime
package import Values

/// A figure day by day, with what is usual behind it.
package struct Chart: Hashable, Sendable {
    package enum Unit: Sendable { case count, share }

    package struct Point: Hashable, Sendable {
        package var day: CivilDate
        /// Nil where there is no figure, such as a rate of nothing.
        package var value: Double?
        /// The lowest and the highest of the days that it is usually like.
        package var usual: ClosedRange<Double>?
        /// Whether late events can still change it.
        package var isOpen: Bool
        /// What the first final report on the day said, if it has changed since.
        package var told: Double?
        /// The same day of the range that it is compared with.
        package var compared: Double?

        package init(day: CivilDate, value: Double?, isOpen: Bool) {
            (self.day, self.value, self.isOpen) = (day, value, isOpen)
        }
    }

    package var title: String
    package var unit: Unit
    package var points: [Point]
    /// How long a point is: 1 or 7 days.
    package var step: Int

    package init(title: String, unit: Unit, points: [Point], step: Int = 1) {
        (self.title, self.unit, self.points, self.step) = (title, unit, points, step)
    }

    /// A point in time, as people call it.
    func name(of point: Point) -> String { (step == 7 ? "Week from " : "") + Wording.brief(point.day) }

    func words(_ value: Double?) -> String {
        guard let value else { return "–" }
        return switch unit {
        case .count: Wording.count(Int64(saturating: value.rounded()))
        case .share: Wording.percent(value)
        }
    }

    /// The top of the axis: a round figure above all.
    package var top: Double {
        let values = points.flatMap { [$0.value, $0.usual?.upperBound, $0.told, $0.compared].compactMap(\.self) }
        let most = values.max() ?? 0
        let least: Double = unit == .share ? 0.01 : 4
        guard most > least, most.isFinite else { return least }
        var unit = 1e-6
        while unit * 10 <= most { unit *= 10 }
        let round = [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10].first { unit * $0 >= most * 0.999_999 } ?? 10
        return unit * round
    }

    /// The foot of the axis: 0, or, of shares that are all near the whole, a round share below them. On an axis from 0
    /// nobody would see a fall from 99 % to 90 %.
    package var bottom: Double {
        guard unit == .share, top == 1 else { return 0 }
        let values = points.flatMap { [$0.value, $0.usual?.lowerBound, $0.told, $0.compared].compactMap(\.self) }
        guard let least = values.min() else { return 0 }
        return [0.9, 0.8, 0.7, 0.6, 0.5].first { $0 <= least - 0.01 } ?? 0
    }

    /// In a sentence, for people who do not see the chart.
    package var told: String {
        let known = points.compactMap { point in point.value.map { (point.day, $0) } }
        guard let first = known.first, let last = known.last, let low = known.min(by: { $0.1 < $1.1 }),
            let high = known.max(by: { $0.1 < $1.1 })
        else { return "No figures." }
        return "From \(words(first.1)) on \(Wording.brief(first.0)) to \(words(last.1)) on \(Wording.brief(last.0)); "
            + "lowest \(words(low.1)) on \(Wording.brief(low.0)), highest \(words(high.1)) on \(Wording.brief(high.0))."
    }
}
