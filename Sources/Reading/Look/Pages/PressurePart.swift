internal import Postgres
internal import Reports
internal import ServiceRuntime
internal import Values

/// What became of a category's notifications by how many their installs had received: whether one more still gets an
/// answer.
enum PressurePart {
    /// It is computed from the deliveries of nine days: of a million a day that takes seconds, so it is read of one
    /// day, and when somebody asks for it.
    private static let table = "pressure"

    static func read(
        _ state: PageState, _ scope: Scope, on connection: inout Connection
    ) throws(PostgresError) -> [Sight.Piece] {
        let day = scope.lastWholeDay
        let listing = listing(state, day)
        // A list of the page's tables has it, too.
        if state.format == .json, state.table == nil { return [.source(.unread(listing))] }
        guard state.table == table else {
            var asked = state
            asked.table = table
            return [
                .links([.init(text: "What one more on \(Wording.brief(day)) brought", address: asked.address)]),
                .words(
                    "Whether people still answer, the more they got in 24 hours. This reads the deliveries of nine "
                        + "days, which takes seconds on busy ones.", .note),
            ]
        }
        let answer = try connection.answer(listing, for: state)
        let words = PressureWords(answer.grid.rows.map(PressureWords.Step.init))
        return [.words("On \(Wording.long(day)): \(words.meaning)")]
            + [words.plainRate, words.category, PressureWords.method].compactMap(\.self).map { .words($0, .note) }
            + [.answer(marking(answer, words))]
    }

    /// The table with a column that says how each step compares, and how sure that is.
    private static func marking(_ answer: Answer, _ words: PressureWords) -> Answer {
        var listing = answer.listing
        let told = { @Sendable (row: Grid.Row) in words.steps.first { $0.pressure == row.count("pressure") } }
        listing.added = [
            { row in ("Against usual", Table.Cell(told(row)?.againstUsual ?? "–")) },
            { row in ("Between", Table.Cell(told(row)?.between ?? "–")) },
        ]
        return Answer(listing: listing, grid: answer.grid, isCut: answer.isCut)
    }

    private static func listing(_ state: PageState, _ day: CivilDate) -> Listing {
        var listing = Listing(
            table, "By how many the install had received in the 24 hours up to each one, \(Wording.long(day))",
            """
            SELECT pressure, received, received_responded,
                round(received_responded::numeric / received, 6) AS response_rate,
                compared, compared_responded, expected_responded, response_ratio, turned_off
            FROM analytics.pressure_funnel
            WHERE app = \(state.app ?? "") AND day = \(day) AND category = \(state.filters[.category] ?? "")
                ORDER BY pressure
            """)
        listing.none = "No notification with a receipt on this day, or retention has dropped its deliveries."
        listing.hidden = ["received_responded", "response_ratio"]
        return listing
    }
}

/// What a table of pressure means.
struct PressureWords {
    /// The notifications with one pressure.
    struct Step {
        var pressure: Int64
        var response: Rate
        /// Those whose install received others that week, and how many of them were answered.
        var compared: Rate
        /// How many would have been, had each install answered as often as it answered its others, of all categories.
        var expected: Double
        /// How often this category is answered, of how often the others of the same people are.
        var level = 1.0

        /// Fewer say nothing.
        static let leastCompared: Int64 = 100

        /// How many would have been answered, were it as usual for these people and this category.
        private var usual: Double { expected * level }

        /// How often people answered, of how often they usually do; nil where too few tell.
        var ratio: Double? {
            compared.whole >= Self.leastCompared && usual > 0 ? Double(compared.part) / usual : nil
        }

        /// Where the true ratio lies: Wilson's interval of the answers. What is usual is taken as known, since it comes
        /// from many more.
        func interval(error: Double = 0.05) -> ClosedRange<Double>? {
            guard ratio != nil, let rates = Interval.of(compared, z: Interval.quantile(ofError: error)) else {
                return nil
            }
            let scale = Double(compared.whole) / usual
            let (low, high) = (rates.lowerBound * scale, rates.upperBound * scale)
            return low <= high && high.isFinite ? low...high : nil
        }

        /// `−12.0 %`
        static func change(_ ratio: Double) -> String {
            let percent = Wording.fixed((ratio - 1) * 100, 1)
            return ratio > 1 && percent != "0.0" ? "+\(percent) %" : "\(percent) %"
        }

        var againstUsual: String { ratio.map(Self.change) ?? "too few" }
        var between: String {
            interval().map { "\(Self.change($0.lowerBound)) to \(Self.change($0.upperBound))" } ?? "–"
        }

        var name: String { pressure >= 10 ? "10 or more" : "\(pressure)" }
    }

    let steps: [Step]
    private let compared: Rate
    private let level: Double?

    init(_ steps: [Step]) {
        let expected = steps.reduce(0) { $0 + $1.expected }
        compared = Rate(
            steps.reduce(0) { $0.addingSaturated($1.compared.part) },
            of: steps.reduce(0) { $0.addingSaturated($1.compared.whole) })
        let level = expected > 0 ? Double(compared.part) / expected : nil
        self.level = level
        self.steps = steps.sorted { $0.pressure < $1.pressure }.map { step in
            var step = step
            step.level = level ?? 0
            return step
        }
    }

    private var judged: [Step] { steps.filter { $0.ratio != nil } }

    /// What can be told beyond chance, all steps held to one error together.
    var meaning: String {
        let judged = judged
        guard !judged.isEmpty else {
            return "too few of these people received others that week to tell what one more brings."
        }
        let told = judged.compactMap { step -> (step: Step, isFewer: Bool)? in
            guard let interval = step.interval(error: 0.05 / Double(judged.count)) else { return nil }
            return interval.upperBound < 1 ? (step, true) : interval.lowerBound > 1 ? (step, false) : nil
        }
        guard !told.isEmpty else {
            return "nobody can tell whether one more costs answers: no difference is beyond chance."
        }
        func list(_ isFewer: Bool) -> String? {
            let steps = told.filter { $0.isFewer == isFewer }.map(\.step)
            guard !steps.isEmpty else { return nil }
            let parts = steps.map { "\($0.name) in 24 hours (\($0.againstUsual))" }
            return
                "people answered \(isFewer ? "less" : "more") than they usually do at \(parts.joined(separator: ", "))"
        }
        return [list(true), list(false)].compactMap(\.self).joined(separator: "; ") + "."
    }

    /// Why the plain rate is no answer, with its own figures.
    var plainRate: String? {
        let judged = judged
        guard let first = judged.first, let last = judged.last, first.pressure < last.pressure else { return nil }
        return
            "The plain response rate goes from \(Wording.percent(first.response)) at \(first.name) to "
            + "\(Wording.percent(last.response)) at \(last.name). Do not plan by it: eager people are sent more, so it "
            + "compares different people."
    }

    /// What belongs to the category, whatever the pressure.
    var category: String? {
        guard let level, compared.whole >= Step.leastCompared else { return nil }
        return
            "However many they got, people answered this category \(Wording.fixed(level, 2)) times as often as their "
            + "other notifications of that week. That says something about the category and nothing about one more, so "
            + "“Against usual” leaves it out."
    }

    static let method =
        "“Against usual” compares each notification with the others that the same install received in the seven days "
        + "up to this one: −10 % means that people answered a tenth less than is usual for them and for this category. "
        + "“Between” is where the true figure lies with 95 % confidence."
}

extension PressureWords.Step {
    fileprivate init(_ row: Grid.Row) {
        self.init(
            pressure: row.count("pressure"), response: Rate(row.count("received_responded"), of: row.count("received")),
            compared: Rate(row.count("compared_responded"), of: row.count("compared")),
            expected: row.number("expected_responded") ?? 0)
    }
}
