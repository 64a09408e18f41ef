extension Page {
    /// Buttons without a tap on the day that are named beside those with one; iOS shows no more.
    private static let mostUntapped = 10

    /// The buttons of a category: those tapped on the day, then the others that are registered, in their places.
    static func buttons(of category: CategorySummary, _ name: String) -> [Block] {
        let tapped = Set(category.actions.map { ExactName($0.id) })
        let others = category.buttons.filter { $0.isThere && !tapped.contains(ExactName($0.id)) }
        guard !category.actions.isEmpty || !others.isEmpty else { return [] }
        let known = Dictionary(category.buttons.map { (ExactName($0.id), $0) }) { first, _ in first }
        let rows =
            category.actions.prefix(Table.mostRows).map { action in
                row(of: action, known[ExactName(action.id)], delivered: category.counts.delivered)
            }
            + others.prefix(mostUntapped).map { button in
                let none = CategorySummary.Action(
                    id: button.id, tappedDeliveries: 0, taps: 0, foregroundTaps: 0, timed: 0, medianSeconds: nil)
                return row(of: none, button, delivered: category.counts.delivered)
            }
        var columns: [Table.Column] = [
            .name("Button"), .number("Tapped"), .bar("Of delivered"), .number("Taps"), .number("In the app"),
            .number("Median time to tap"),
        ]
        // That they were tapped is seen without it.
        let judged = (category.actions.map(\.id) + others.map(\.id)).compactMap { known[ExactName($0)] }
        if category.areButtonsJudged, judged.contains(where: { $0.words != Button.tapped }) {
            columns.append(.name("Of who saw it, so far"))
        }
        let table = Table(
            "\(name): buttons", columns: columns, rows: rows.map { Array($0.prefix(columns.count)) },
            omitted: max(0, category.actions.count - Table.mostRows) + max(0, others.count - mostUntapped))
        return [.table(table)] + answers(of: category)
    }

    private static func row(of action: CategorySummary.Action, _ button: Button?, delivered: Int64) -> [Table.Cell] {
        let share = Rate(action.tappedDeliveries, of: delivered).value
        return [
            Table.Cell(Button.label(action.id, title: button?.title)),
            Table.Cell(Wording.count(action.tappedDeliveries)), Table.Cell(Wording.percent(share), share: share),
            Table.Cell(Wording.count(action.taps)), Table.Cell(Wording.count(action.foregroundTaps)),
            Table.Cell(Wording.duration(seconds: action.medianSeconds)),
            Table.Cell(button?.words ?? "", tone: button?.tone ?? .plain),
        ]
    }

    /// What the taps said, where the buttons are registered with it.
    private static func answers(of category: CategorySummary) -> [Block] {
        guard category.answers.contains(where: { !$0.answer.isEmpty }) else { return [] }
        let parts = category.answers.map {
            "\(Wording.count($0.tappedDeliveries)) \(Wording.name($0.answer, else: "other"))"
        }
        let isClosed = category.answers.contains { $0.answer == "close" }
        return [
            .sentence(
                "Tapped by answer: \(parts.joined(separator: ", "))."
                    + (isClosed ? " Closing is not engagement." : ""), .plain)
        ]
    }

    /// How the buttons are judged, once for all of them.
    static let judging = Block.sentence(
        "So far is on all days. A button is seen where its notification was pressed open or a button of it tapped; of one "
            + "that nobody tapped, the bound says with 95 in 100 sure how many would at most. From the third on, a banner "
            + "may cut buttons off.", .note)
}

extension CategorySummary {
    /// Whether more is known of its buttons than their taps.
    var areButtonsJudged: Bool { buttons.contains { $0.verdict != .unregistered } }
}

extension Button {
    /// What the person sees, and what the app calls it.
    static func label(_ id: String, title: String?) -> String {
        guard let title, !title.isEmpty, ExactName(title) != ExactName(id) else { return id }
        return "\(title) · \(id)"
    }

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
        case .retired: return "not there now"
        case .unregistered: return "not registered"
        }
    }

    fileprivate var tone: Tone {
        switch verdict {
        case .untapped, .unregistered: .alarm
        case .tapped, .tooFew, .exposureUnknown, .mayBeCutOff, .retired: .plain
        }
    }
}
