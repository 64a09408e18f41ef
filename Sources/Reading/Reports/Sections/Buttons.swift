internal import Postgres
internal import Telemetry
internal import Values

/// A button of a category: how it is registered, and what became of it on all days. `CategoriesSection` shows it.
struct Button: Hashable, Sendable {
    var id: String
    /// Its place, from 1; nil if it is not registered.
    var position: Int?
    var title: String?
    var answer: String?
    /// Deliveries that showed their buttons; nil where nothing tells.
    var exposures: Int64?
    var tappedDeliveries: Int64
    var taps: Int64
    var tapRate: Double?
    var verdict: Status
    /// The day from which on it has been registered without a break.
    var registered: CivilDate?
    /// Of an untapped one: with 95 % confidence, fewer than this share of those who see it tap it.
    var rateBound: Double?

    /// As `analytics.category_buttons` says it.
    enum Status: String, Hashable, Sendable, CaseIterable {
        case tapped, untapped, retired, unregistered
        case tooFew = "too_few"
        case exposureUnknown = "exposure_unknown"
        case mayBeCutOff = "may_be_cut_off"
    }

    /// Whether it is one of the category's registered buttons now.
    var isThere: Bool { verdict != .retired && verdict != .unregistered }

    /// Whether a tap of it, as it is registered now, closes or declines.
    var isClosing: Bool { isThere && (answer == "close" || answer == "decline") }

    /// What adds up over buttons.
    var counts: [Fact] { [.count("tapped_deliveries", tappedDeliveries), .count("taps", taps)] }

    /// How often it is tapped, beside one that is not; nil if it says nothing of that one.
    var neighbourRate: Rate? {
        guard isThere, tappedDeliveries > 0, let exposures else { return nil }
        return Rate(tappedDeliveries, of: exposures)
    }

    var entry: Entry {
        Entry(
            keys: [.text("action_id", id)],
            facts: [
                .count("position", position), .text("title", title), .text("answer", answer),
                .count("exposures", exposures), .count("tapped_deliveries", tappedDeliveries), .count("taps", taps),
                .number("tap_rate", tapRate), .text("verdict", verdict.rawValue), .number("rate_bound", rateBound),
            ])
    }
}

extension Button {
    /// By category, the buttons of categories that have or had a registered one: first those with a place, in that
    /// order. Where no button was ever registered, the list of taps says as much. Of a category with more than `most`,
    /// those that are registered now come first into the list, then the most tapped.
    static func read(
        of app: String, most: Int64, on connection: inout Connection
    ) throws(PostgresError) -> [ExactName: BoundList<Button>] {
        try connection.query(
            """
            SELECT category, min(action_id COLLATE "C"), min(position)::integer, min(title), nullif(min(answer), ''),
                min(exposures)::bigint, sum(tapped_deliveries)::bigint, sum(taps)::bigint, min(tap_rate)::float8,
                min(verdict), min(rate_bound)::float8, count(*) FILTER (WHERE place > \(most)),
                (min(registered_at) AT TIME ZONE (SELECT time_zone FROM analytics.apps WHERE apps.app = \(app)))::date
            FROM (
                SELECT
                    *, bool_or(verdict <> 'unregistered') OVER (PARTITION BY category) AS is_registered,
                    least(
                        row_number() OVER (
                            PARTITION BY category
                            ORDER BY verdict IN ('retired', 'unregistered'), position NULLS LAST,
                                tapped_deliveries DESC, action_id COLLATE "C"),
                        \(most) + 1) AS place
                FROM analytics.category_buttons WHERE app = \(app)
            ) AS ranked
            WHERE is_registered
            GROUP BY category, place ORDER BY place > \(most), min(position) NULLS LAST, min(action_id COLLATE "C")
            """
        ).listedByName(leftOut: 11) { row throws(PostgresError) -> Button? in
            // A verdict that only a later version knows is skipped.
            guard let verdict = Status(rawValue: try row.get(9)) else { return nil }
            return Button(
                id: try row.get(1), position: try row.optional(2, as: Int32.self).map(Int.init),
                title: try row.optional(3), answer: try row.optional(4), exposures: try row.optional(5),
                tappedDeliveries: try row.get(6), taps: try row.get(7), tapRate: try row.optional(8),
                verdict: verdict, registered: try row.optional(12), rateBound: try row.optional(10))
        }
    }
}

extension Button {
    /// What people see, and what the app calls it.
    static func label(_ id: String, title: String?) -> String {
        guard let title, !title.isEmpty, ExactName(title) != ExactName(id) else { return id }
        return "\(title) · \(id)"
    }

    /// How the buttons are judged, once for all of them.
    static let judging = Block.sentence(
        "The tap rate among people who saw a button counts all days. A button counts as seen if its notification was "
            + "expanded or one of the buttons was tapped. If nobody tapped it, the true rate is below the given bound "
            + "(95 % confidence). A banner may cut off the buttons from the third on.", .note)

    fileprivate static let tapped = "tapped"

    fileprivate var words: String {
        switch verdict {
        case .tapped:
            guard let tapRate, let exposures else { return Button.tapped }
            return "\(Wording.percent(tapRate)) of \(Wording.count(exposures))"
        case .untapped:
            let bound = rateBound.map { ": \(Wording.lessThan($0))" } ?? ""
            return "0 of \(Wording.count(exposures ?? 0))\(bound)"
        case .tooFew: return "0 of \(Wording.count(exposures ?? 0)): too few"
        case .exposureUnknown: return "not known"
        case .mayBeCutOff: return "may be cut off"
        case .retired: return "no longer registered"
        case .unregistered: return "not registered"
        }
    }

    /// Buttons that nobody taps have a section of their own.
    fileprivate var tone: Tone { verdict == .unregistered ? .alarm : .plain }
}

extension CategorySummary {
    /// Whether more is known of its buttons than their taps.
    var areButtonsJudged: Bool { buttons.contains { $0.verdict != .unregistered } }

    /// The number of buttons without a tap on the day that are listed. iOS shows no more.
    private static let mostUntapped = 10

    /// The buttons that were tapped on the day, then the other registered ones in their places.
    func buttonBlocks(_ name: String) -> [Block] {
        let tapped = Set(actions.map { ExactName($0.id) })
        let others = buttons.filter { $0.isThere && !tapped.contains(ExactName($0.id)) }
        guard !actions.isEmpty || !others.isEmpty else { return [] }
        let known = Dictionary(buttons.map { (ExactName($0.id), $0) }) { first, _ in first }
        let untapped = others.prefix(Self.mostUntapped).map { button in
            Action(id: button.id, tappedDeliveries: 0, taps: 0, foregroundTaps: 0, timed: 0, medianSeconds: nil)
        }
        // A column that says "tapped" of every button would say nothing new.
        let judged = (actions.map(\.id) + others.map(\.id)).compactMap { known[ExactName($0)] }
        let areJudged = areButtonsJudged && judged.contains { $0.words != Button.tapped }
        let rows = actions.prefix(Table.mostRows) + untapped
        var table = Table("\(name): buttons", of: Array(rows), most: rows.count) { action in
            let button = known[ExactName(action.id)]
            let verdict = Table.Field.text(
                "Tap rate among people who saw it", button?.words ?? "", tone: button?.tone ?? .plain)
            return [
                .text("Button", Button.label(action.id, title: button?.title)),
                .count("Tapped", action.tappedDeliveries),
                .bar("Of deliveries", Rate(action.tappedDeliveries, of: counts.delivered)), .count("Taps", action.taps),
                .count("Opened the app", action.foregroundTaps),
                .number("Median time to tap", Wording.duration(seconds: action.medianSeconds)),
                .count("Timed", action.timed),
            ] + (areJudged ? [verdict] : [])
        }
        table.omitted =
            max(0, actions.count - Table.mostRows) + Int(clamping: otherActions?.entries ?? 0)
            + max(0, others.count - Self.mostUntapped)
        return [.table(table)] + answerBlocks
    }

    /// What the taps answered, if buttons are registered with an answer.
    private var answerBlocks: [Block] {
        guard answers.contains(where: { !$0.answer.isEmpty }) else { return [] }
        let parts = answers.map { "\(Wording.count($0.tappedDeliveries)) \(Wording.name($0.answer, else: "other"))" }
        return [.sentence("Tapped deliveries by answer: \(parts.joined(separator: ", ")).", .plain)]
    }
}
