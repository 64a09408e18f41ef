package import Values

/// What a report is about: a day, or a week of the calendar that begins on Monday (ISO 8601).
package enum Period: Hashable, Sendable {
    case day(CivilDate)
    case week(Week)

    /// Its days, by the app's calendar.
    package var days: ClosedRange<CivilDate> {
        switch self {
        case .day(let day): day...day
        case .week(let week): week.monday...week.monday.advanced(by: 6)
        }
    }

    /// How many days it has.
    var length: Int {
        switch self {
        case .day: 1
        case .week: 7
        }
    }

    /// As files and documents name it: `2026-11-20` or `2026-W47`.
    package var name: String {
        switch self {
        case .day(let day): "\(day)"
        case .week(let week): week.description
        }
    }

    /// In the title of a report.
    var title: String {
        switch self {
        case .day(let day): Wording.long(day)
        case .week(let week):
            "week \(week.number) of \(week.year), "
                + "from \(Wording.brief(days.lowerBound)) to \(Wording.brief(days.upperBound))"
        }
    }

    /// `on this day` or `in this week`
    var time: String {
        switch self {
        case .day: "on this day"
        case .week: "in this week"
        }
    }

    /// `day` or `week`
    var word: String {
        switch self {
        case .day: "day"
        case .week: "week"
        }
    }
}

/// A week of a year. Week 1 is the one with 4 January.
package struct Week: Hashable, Sendable, CustomStringConvertible {
    package let year: Int
    package let number: Int
    package let monday: CivilDate

    /// `2026-W47`; nil if that year has no such week.
    package init?(_ text: String) {
        guard let match = text.wholeMatch(of: /([0-9]{4})-W([0-9]{2})/), let year = Int(match.1),
            let number = Int(match.2), number > 0, let fourth = CivilDate(year: year, month: 1, day: 4)
        else { return nil }
        let monday = fourth.monday.advanced(by: 7 * (number - 1))
        // A week belongs to the year of its Thursday.
        guard monday.advanced(by: 3).year == year else { return nil }
        (self.year, self.number, self.monday) = (year, number, monday)
    }

    /// The week with this day.
    package init(of day: CivilDate) {
        monday = day.monday
        let thursday = monday.advanced(by: 3)
        year = thursday.year
        let first = CivilDate(year: year, month: 1, day: 4)?.monday ?? monday
        number = (monday.daysSince1970 - first.daysSince1970) / 7 + 1
    }

    package var description: String { "\(year)-W\(String(number, digits: 2))" }
}

extension CivilDate {
    /// The Monday of its week.
    fileprivate var monday: CivilDate {
        let place = (daysSince1970 + 3) % 7  // 1970-01-01 was a Thursday
        return advanced(by: -(place < 0 ? place + 7 : place))
    }
}
