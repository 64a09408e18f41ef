/// What the words mean that somebody who plans pushes does not know. Report and pages explain each where it stands, in
/// the same words, and once.
package struct Glossary: Sendable {
    private struct Term: Sendable {
        /// The titles of columns, figures and charts that use it.
        let titles: Set<String>
        /// A sentence that begins with the word.
        let meaning: String
    }

    /// The places of the terms that are explained already.
    private var told: Set<Int> = []

    package init() {}

    /// A sentence for each term of these titles that was not explained yet; nil if there is none. Whoever says in
    /// `words` what a term is has explained it, too.
    package mutating func explain(_ titles: [String], beside words: [String] = []) -> String? {
        var meanings: [String] = []
        for (place, term) in Self.terms.enumerated() where !told.contains(place) {
            guard titles.contains(where: term.titles.contains) else { continue }
            told.insert(place)
            let beginning = "\(term.meaning.prefix { $0 != ":" }) is "
            if !words.contains(where: { $0.hasPrefix(beginning) }) { meanings.append(term.meaning) }
        }
        return meanings.isEmpty ? nil : meanings.joined(separator: " ")
    }

    /// In the order in which they are explained where several stand together.
    private static let terms: [Term] = [
        Term(
            titles: ["Deliveries", "Delivered"],
            meaning:
                "Delivered: notifications of which at least one event is on record. One that was neither reported as "
                + "received nor touched leaves no trace."),
        Term(
            titles: ["Receipt coverage", "Received"],
            meaning:
                "Receipt coverage: the share of deliveries that are known to have arrived, because the phone sent a "
                + "receipt. Rates are shares of these."),
        Term(
            titles: ["Response rate", "Response", "Responded"],
            meaning: "Response: the notification was opened, or a button or a story's call to action was tapped."),
        Term(
            titles: ["Engagement rate", "Engagement", "Engaged"],
            meaning: "Engagement: response without those whose only response was a button that closes or declines."),
        Term(
            titles: ["95 % interval"],
            meaning: "95 % interval: where the true rate lies with 95 % confidence, since few deliveries say little."),
        Term(
            titles: ["Expanded"],
            meaning: "Expanded: pressed until it opened up and showed its buttons, or its story."),
        Term(
            titles: ["Suppressed"],
            meaning: "Suppressed: it arrived while the app was open, and the app did not show it."),
        Term(
            titles: ["Exposures", "Tap rate among people who saw it"],
            meaning:
                "Exposures (who saw it): the deliveries whose buttons were seen. An iPhone shows buttons after a press "
                + "on the notification, so these are far fewer than all."),
        Term(
            titles: ["Timed"],
            meaning: "Timed: the deliveries that the median is of, which have a receipt before the first tap."),
        Term(
            titles: ["Sole"],
            meaning: "Sole: deliveries whose only response was a tap of this button."),
        Term(
            titles: ["Foreground taps"],
            meaning: "Foreground taps: those that opened the app."),
        Term(
            titles: ["Negative"],
            meaning:
                "Negative: receipts that are dated before the sending, since two clocks differ. "
                + "They count as 0 seconds."
        ),
        Term(
            titles: ["Fallback", "Fallback rate"],
            meaning: "Fallback: the story could not be shown, and something plain stood in its place."),
        Term(
            titles: ["Mean dwell"],
            meaning: "Mean dwell: how long a page stood before the next one or a tap."),
        Term(
            titles: ["Planned"],
            meaning: "Planned: stories that have this page, whether or not anybody got so far."),
        Term(
            titles: ["Provisional"],
            meaning: "Provisional: shows notifications quietly, without having been asked."),
        Term(
            titles: ["Ephemeral"],
            meaning: "Ephemeral: an App Clip, which may show them for some hours."),
        Term(
            titles: ["Noticeable", "Share noticeable"],
            meaning:
                "Noticeable: with a banner or on the lock screen, not only in the notification centre or the scheduled "
                + "summary."),
        Term(titles: ["Unsaid"], meaning: "Unsaid: the app does not tell."),
        Term(
            titles: ["Treated", "Control"],
            meaning:
                "Control: installs that are left without the pushes, drawn by lot. Treated: the others, which get them."
        ),
        Term(
            titles: ["After a receipt"],
            meaning:
                "After a receipt: the goal counts for the notification that the install received last, at most 7 days "
                + "before."),
        Term(
            titles: ["After a response"],
            meaning:
                "After a response: it counts for the one that was last responded to. Each goal counts once in either."),
        Term(titles: ["Duplicate"], meaning: "Duplicate: \(Glossary.duplicate)."),
        Term(titles: ["Corrected"], meaning: "Corrected: \(Glossary.corrected)."),
        Term(titles: ["Clamped"], meaning: "Clamped: \(Glossary.clamped)."),
        Term(titles: ["Late"], meaning: "Late: \(Glossary.late)."),
        Term(titles: ["Lost on phones"], meaning: "Lost on phones: \(Glossary.dropped)."),
    ]

    // What becomes of events: a table of the report has it beside each.
    static let duplicate = "already stored, not counted twice"
    static let corrected = "device clock more than 5 minutes off"
    static let clamped = "dated in the future, given the time of receipt"
    static let late = "received more than a day after they occurred"
    static let dropped = "discarded before they could be sent"
}

extension Block {
    /// The titles of its columns, figures and charts.
    package var titles: [String] {
        switch self {
        case .sentence, .pointer: []
        case .figures(let figures): figures.map(\.name)
        case .table(let table): table.columns.map(\.title)
        case .ladder(let ladder): ladder.table.columns.map(\.title)
        case .trend(let trend): trend.charts.map(\.title)
        }
    }
}
