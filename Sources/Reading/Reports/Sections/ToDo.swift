internal import Values

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
    /// What to do, which is the same words each day that asks for it.
    var ask: String
    /// Why, with the figures, without a full stop.
    var why: String
    /// The title of the section that tells more.
    var section: String
    /// What it is about.
    var subject: Subject
    /// Of a week: the day that it is carried over from.
    var day: CivilDate?

    /// What a deed is about: only a day that had it can say that it is mended.
    enum Subject: Hashable, Sendable {
        case everything
        case category(String)
        case campaign(String)
        case story(String)

        /// As JSON says it, with the name.
        var told: (kind: String, name: String) {
            switch self {
            case .everything: ("everything", "")
            case .category(let name): ("category", name)
            case .campaign(let name): ("campaign", name)
            case .story(let name): ("story", name)
            }
        }
    }

    var what: String { "\(ask): \(why)" }

    /// Whether both ask for the same.
    func isSame(as other: Deed) -> Bool { ExactName(ask) == ExactName(other.ask) && section == other.section }
}

/// What to do, before everything else: at most three sentences, and of a week six.
enum ToDoSection: ReportSection {
    static func most(of period: Period) -> Int { if case .week = period { 6 } else { 3 } }

    /// The most urgent first; of equally urgent ones, those that concern more deliveries.
    static func deeds(in report: Report) -> [Deed] {
        let own = report.sections.flatMap { $0.deeds(report) }
        let all = own + report.carried.filter { carried in !own.contains { $0.isSame(as: carried) } }
        let sorted = all.enumerated().sorted { left, right in
            (left.element.urgency, right.element.deliveries, left.offset)
                < (right.element.urgency, left.element.deliveries, right.offset)
        }
        return sorted.prefix(most(of: report.period)).map(\.element)
    }

    static func words(_ report: Report) -> Page.Section? {
        let deeds = deeds(in: report)
        guard !deeds.isEmpty else {
            return Page.Section("What to do", [.sentence("Nothing \(report.period.time) calls for action.", .plain)])
        }
        return Page.Section(
            "What to do",
            deeds.map { deed in
                // What stands in the report of a day has no section in that of the week.
                guard let day = deed.day else { return .pointer(deed.what, section: deed.section) }
                return carried(deed.what, day, section: deed.section)
            })
    }

    /// What another report asks to do: that of this day, which has the section.
    static func carried(_ what: String, _ day: CivilDate, section: String) -> Block {
        .sentence("\(what) (report on \(Wording.brief(day)), “\(section)”).", .plain)
    }

    /// What the days of a week, the earliest first, ask for and nothing has mended since. Only a day that has settled
    /// and had what it is about can say that it is mended.
    static func open(_ days: [Report]) -> [Deed] {
        var open: [Deed] = []
        for report in days where !report.isEmpty {
            let deeds = report.sections.flatMap { $0.deeds(report) }
            open.removeAll { earlier in
                deeds.contains { $0.isSame(as: earlier) }
                    || report.settling.isSettled && report.had(earlier.subject)
            }
            open += deeds.map { deed in
                var carried = deed
                carried.day = report.day
                return carried
            }
        }
        return open
    }

    static func facts(_ report: Report) -> [EntryList] {
        .list("to_do", Array(deeds(in: report).enumerated())) { place, deed in
            Entry(
                keys: [.count("place", place + 1)],
                facts: [
                    .text("what", deed.what), .text("section", deed.section), .count("deliveries", deed.deliveries),
                    .text("day", deed.day?.description), .text("ask", deed.ask),
                    .text("subject", deed.subject.told.kind), .text("name", deed.subject.told.name),
                ])
        }
    }
}

extension Report {
    /// Whether the report tells of it.
    fileprivate func had(_ subject: Deed.Subject) -> Bool {
        switch subject {
        case .everything: headline.counts.delivered > 0
        case .category(let name):
            categories.contains { ExactName($0.name) == ExactName(name) && $0.counts.delivered > 0 }
        case .campaign(let name):
            campaigns.contains { ExactName($0.name) == ExactName(name) && $0.counts.delivered > 0 }
        case .story(let name): stories.contains { ExactName($0.name) == ExactName(name) }
        }
    }
}
