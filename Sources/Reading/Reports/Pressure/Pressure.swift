internal import Postgres
internal import ServiceRuntime
internal import Values

/// How people answer, by how many notifications their install had received in the 24 hours up to each one.
struct Pressure: Hashable, Sendable {
    /// From one upwards; the last is ten or more.
    var steps: [Step] = []

    struct Step: Hashable, Sendable {
        var number: Int
        var received: Int64 = 0
        var responded: Int64 = 0
        /// Installs that turned notifications off before another one came, each day by itself.
        var turnedOff: Int64 = 0
        /// Those whose install received others in the seven days up to that day, and how many of them were responded
        /// to.
        var compared = Rate(0, of: 0)
        /// How many would have been, had each install answered as often as it answered its others.
        var expected = 0.0
        /// The same, had everything of its day and category been answered alike.
        var expectedAlike = 0.0

        var response: Rate { Rate(responded, of: received) }

        /// What was answered as a share of what these people usually answer; nil where there are too few.
        var ratio: Double? { ratio(of: expectedAlike) }

        fileprivate func ratio(of expected: Double) -> Double? {
            isJudged && expected > 0 ? Double(compared.part) / expected : nil
        }

        fileprivate var isJudged: Bool {
            compared.isShare && compared.whole >= Pressure.leastCompared && compared.part > 0
                && compared.part < compared.whole && min(expected, expectedAlike) >= Pressure.leastExpected
        }

        /// How far chance alone may move the ratio: the variance of the answers, as a part of what was expected.
        fileprivate func variance(of expected: Double) -> Double {
            guard let share = compared.value else { return .infinity }
            return Double(compared.part) * (1 - share) / (expected * expected)
        }
    }

    private static let leastCompared: Int64 = 100
    private static let leastExpected = 10.0

    /// How many came within 24 hours after another one.
    var crowded: Rate {
        let all = steps.reduce(Int64(0)) { $0.addingSaturated($1.received) }
        let first = steps.first { $0.number == 1 }?.received ?? 0
        return Rate(all.subtractingSaturated(first), of: all)
    }

    /// What each further notification changes in the answers of the same people, as a share of what they usually
    /// answer, with its 95 % interval.
    struct Effect: Hashable, Sendable {
        var change: Double
        var interval: ClosedRange<Double>

        /// 1 if they answer more, −1 if less, 0 if nobody can tell.
        var sign: Int { interval.lowerBound > 0 ? 1 : interval.upperBound < 0 ? -1 : 0 }
    }

    /// Among notifications of the same day and category: on a day of great news more is sent, and more is answered. Nil
    /// where there is nothing to compare.
    var effect: Effect? { effect(\.expectedAlike) }

    /// Among all of them, so whatever is different on days and in categories with many is in it.
    var effectOverAll: Effect? { effect(\.expected) }

    /// The slope of the ratios over the number, each weighed by how sure it is.
    private func effect(_ expected: KeyPath<Step, Double>) -> Effect? {
        let points = steps.compactMap { step -> (x: Double, y: Double, weight: Double)? in
            guard let ratio = step.ratio(of: step[keyPath: expected]) else { return nil }
            let weight = 1 / step.variance(of: step[keyPath: expected])
            return weight.isFinite && weight > 0 ? (Double(step.number), ratio, weight) : nil
        }
        guard points.count > 1 else { return nil }
        let weight = points.reduce(0) { $0 + $1.weight }
        let middle = points.reduce(0) { $0 + $1.weight * $1.x } / weight
        let level = points.reduce(0) { $0 + $1.weight * $1.y } / weight
        let spread = points.reduce(0) { $0 + $1.weight * ($1.x - middle) * ($1.x - middle) }
        guard spread > 0 else { return nil }
        let slope = points.reduce(0) { $0 + $1.weight * ($1.x - middle) * ($1.y - level) } / spread
        let reach = Interval.quantile(ofError: 0.05) / spread.squareRoot()
        guard slope.isFinite, reach.isFinite else { return nil }
        return Effect(change: slope, interval: (slope - reach)...(slope + reach))
    }

    /// Whether the plain rate is higher where more came than where one came alone.
    var looksBetter: Bool {
        let judged = steps.filter(\.isJudged)
        guard let first = judged.first?.response.value, let last = judged.last?.response.value else { return false }
        return last > first
    }
}

extension Pressure {
    /// Of the days so far, each by itself: a day is computed from the deliveries of nine.
    static func read(
        _ scope: ReportScope, on connection: inout Connection
    ) throws(PostgresError) -> Pressure {
        var steps: [Int: Step] = [:]
        for place in 0..<scope.period.length {
            let day = scope.firstDay.advanced(by: place)
            for row in try connection.query(
                """
                SELECT
                    pressure, sum(received)::bigint, sum(received_responded)::bigint, sum(turned_off)::bigint,
                    sum(compared)::bigint, sum(compared_responded)::bigint, sum(expected_responded)::double precision,
                    sum(expected_responded * coalesce(category_responded / nullif(category_expected, 0),
                        1))::double precision
                FROM (
                    SELECT
                        *, sum(compared_responded) OVER (PARTITION BY category) AS category_responded,
                        sum(expected_responded) OVER (PARTITION BY category) AS category_expected
                    FROM analytics.pressure_funnel WHERE app = \(scope.app) AND day = \(day)
                ) AS cell
                GROUP BY pressure
                """)
            {
                let number = Int(try row.get(0, as: Int16.self))
                var step = steps[number] ?? Step(number: number)
                step.received += try row.get(1)
                step.responded += try row.get(2)
                step.turnedOff += try row.get(3)
                step.compared = step.compared + Rate(try row.get(5), of: try row.get(4))
                step.expected += try row.get(6)
                step.expectedAlike += try row.get(7)
                steps[number] = step
            }
        }
        return Pressure(steps: steps.keys.sorted().compactMap { steps[$0] })
    }
}
