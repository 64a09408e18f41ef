internal import ServiceRuntime
package import Values

/// Days without a gap, the first and the last included.
package struct DayRange: Hashable, Sendable, CustomStringConvertible {
    package let first: CivilDate
    package let last: CivilDate

    /// What one page shows at most: a bound on its work, and on what a person can read.
    package static let most = 400

    package init(_ first: CivilDate, _ last: CivilDate) {
        (self.first, self.last) = (min(first, last), max(first, last))
    }

    init(checking first: CivilDate, _ last: CivilDate) throws(AddressFault) {
        guard first <= last else { throw AddressFault("The first day, \(first), is after the last, \(last).") }
        self.init(first, last)
        guard count <= Self.most else {
            throw AddressFault("From \(first) to \(last) are \(count) days. A page shows up to \(Self.most).")
        }
    }

    /// `2026-11-01..2026-11-07`
    init(text: String) throws(AddressFault) {
        let ends = text.split(separator: "..", omittingEmptySubsequences: false).map(String.init)
        guard ends.count == 2, let first = CivilDate(text: ends[0]), let last = CivilDate(text: ends[1])
        else {
            throw AddressFault("Write days like 2026-11-01..2026-11-07, not '\(String(printable: text))'.")
        }
        try self.init(checking: first, last)
    }

    /// So many days, of which this is the last.
    init(_ count: Int, upTo last: CivilDate) { self.init(last.advanced(by: 1 - count), last) }

    package var count: Int { last.daysSince1970 - first.daysSince1970 + 1 }

    func overlaps(_ other: DayRange) -> Bool { first <= other.last && other.first <= last }

    /// As many days, right before.
    var before: DayRange { DayRange(count, upTo: first.advanced(by: -1)) }

    var days: [CivilDate] { (0..<count).map { first.advanced(by: $0) } }

    var inAddress: String { "\(first)..\(last)" }

    package var description: String { first == last ? "\(first)" : "\(first) to \(last)" }
}
