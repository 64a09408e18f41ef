/// Something that deserves action: what to do, with the figure that says so, and the section that tells more.
struct Deed: Hashable, Sendable {
    enum Urgency: Int, Comparable, Sendable {
        /// Something is broken, and people get less than was sent.
        case broken
        /// The numbers fell by more than chance.
        case fallen
        /// People could be given something better.
        case better

        static func < (left: Urgency, right: Urgency) -> Bool { left.rawValue < right.rawValue }
    }

    var urgency: Urgency
    /// The deliveries that it concerns.
    var deliveries: Int64
    /// What to do and why, without a full stop.
    var what: String
    /// The title of the section that tells more.
    var section: String
}

/// What to do, before everything else: at most three sentences.
enum ToDoSection: ReportSection {
    static let most = 3

    /// The most urgent first; of equally urgent ones, those that concern more deliveries.
    static func deeds(in report: Report) -> [Deed] {
        let all = report.sections.flatMap { $0.deeds(report) }
        let sorted = all.enumerated().sorted { left, right in
            (left.element.urgency, right.element.deliveries, left.offset)
                < (right.element.urgency, left.element.deliveries, right.offset)
        }
        return sorted.prefix(most).map(\.element)
    }

    static func words(_ report: Report) -> Page.Section? {
        let deeds = deeds(in: report)
        guard !deeds.isEmpty else {
            return Page.Section("What to do", [.sentence("Nothing \(report.period.time) calls for action.", .plain)])
        }
        return Page.Section(
            "What to do", deeds.map { .pointer($0.what, section: $0.section) })
    }

    static func facts(_ report: Report) -> [EntryList] {
        .list("to_do", Array(deeds(in: report).enumerated())) { place, deed in
            Entry(
                keys: [.count("place", place + 1)],
                facts: [
                    .text("what", deed.what), .text("section", deed.section), .count("deliveries", deed.deliveries),
                ])
        }
    }
}
