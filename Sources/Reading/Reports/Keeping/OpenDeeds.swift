package import Values

/// What kept reports ask to do and nothing has mended since: the rule of a week's report, for pages that show many days
/// and read no report.
package enum OpenDeeds {
    /// Something that a kept report asks to do.
    package struct Told: Sendable {
        package var day: CivilDate
        package var what: String
        package var ask: String
        package var section: String
        /// Kind and name, as JSON says them.
        package var subject: Subject

        package init(day: CivilDate, what: String, ask: String, section: String, subject: Subject) {
            (self.day, self.what, self.ask, self.section, self.subject) = (day, what, ask, section, subject)
        }

        /// In the words of a week's report.
        package var words: Block { ToDoSection.carried(what, day, section: section) }
    }

    package struct Subject: Hashable, Sendable {
        package let kind: String
        private let exactName: ExactName
        package var name: String { exactName.text }

        package init(kind: String, name: String) { (self.kind, exactName) = (kind, ExactName(name)) }
    }

    /// How many days back it looks: as many as the report of a week.
    package static let mostDays = 7

    /// The latest first. `days` are those with a kept report, `had` says which day had what it is about.
    package static func open(
        _ told: [Told], reported days: [CivilDate], had: (CivilDate, Subject) -> Bool
    ) -> [Told] {
        let byDay = Dictionary(grouping: told, by: \.day)
        var open: [Told] = []
        for day in days.sorted() {
            let deeds = byDay[day] ?? []
            // A report names the most urgent. If it names as many as it may, it can have left out one that is still
            // open.
            let namesAll = deeds.count < ToDoSection.most(of: .day(day))
            open.removeAll { earlier in
                deeds.contains { ExactName($0.ask) == ExactName(earlier.ask) && $0.section == earlier.section }
                    || namesAll && had(day, earlier.subject)
            }
            open = deeds + open
        }
        return Array(open.prefix(mostShown))
    }

    private static var mostShown: Int { 6 }

    /// How reports name a story.
    package static let noCategory = CategoriesSection.none
}
