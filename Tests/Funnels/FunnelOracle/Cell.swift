package import Values

/// One value of a row. Its text is what PostgreSQL gives for `::text`, times aside: those are RFC 3339 in UTC.
package enum Cell: Hashable, Comparable, Sendable {
    case null
    case flag(Bool)
    case number(Int64)
    /// A time span of so many microseconds, told in seconds.
    case seconds(microseconds: Int64)
    case time(Timestamp)
    case day(CivilDate)
    case text(Label)

    /// Nil for null.
    package var text: String? {
        switch self {
        case .null: nil
        case .flag(let flag): String(flag)
        case .number(let number): String(number)
        case .seconds(let microseconds): String(Double(microseconds) / 1_000_000)
        case .time(let time): time.description
        case .day(let day): day.description
        case .text(let label): label.text
        }
    }

    package static func < (left: Cell, right: Cell) -> Bool {
        switch (left, right) {
        case (.flag(let left), .flag(let right)): !left && right
        case (.number(let left), .number(let right)): left < right
        case (.seconds(let left), .seconds(let right)): left < right
        case (.time(let left), .time(let right)): left < right
        case (.day(let left), .day(let right)): left.daysSince1970 < right.daysSince1970
        case (.text(let left), .text(let right)): left < right
        case (.null, .null): false
        // A column holds one sort of value, or null, which goes first.
        default: left == .null
        }
    }
}
