internal import ServiceRuntime
package import Values

/// What `verify` found.
package struct VerificationReport: Sendable {
    /// The first of the days that were compared; nil if all were.
    package let since: CivilDate?
    /// The recounted shards, and the position of each.
    package internal(set) var shards: [(shard: Int16, generation: Int32, position: Int64)] = []
    /// The events of those deliveries.
    package internal(set) var events: Int64 = 0
    package internal(set) var deliveries: Int64 = 0
    /// Rows of all tables, stored or recounted.
    package internal(set) var cells: Int64 = 0
    /// How many cells differ, by table; tables without differences are left out.
    package internal(set) var differing: [(table: String, cells: Int64)] = []
    /// The first differing cells.
    package internal(set) var differences: [Difference] = []
    /// The first batches with a wrong number of events. `gapCount` says how many there are.
    package internal(set) var gaps: [BatchGap] = []
    package internal(set) var gapCount: Int64 = 0
    package internal(set) var omissions: [Omission] = []
    package internal(set) var moves: [Move] = []
    /// Whether words were merged or pruned since the funnels were counted, so that no cell was compared.
    package internal(set) var isUnderOlderWords = false

    /// A projector whose tables were not compared.
    package struct Omission: Hashable, Sendable {
        package let projector: String
        package let reason: String
    }

    /// An app that may have days outside its own time zone. None of its cells was compared.
    package struct Move: Hashable, Sendable {
        package let app: String
        package let from: String
        package let to: String
    }

    /// Whether every cell was compared, none differs, no event is missing, and all days are in the right time zone.
    package var isProved: Bool {
        differing.isEmpty && gapCount == 0 && omissions.isEmpty && moves.isEmpty && !isUnderOlderWords
    }

    init(since: CivilDate?) { self.since = since }

    package var differingCells: Int64 { differing.reduce(0) { $0 + $1.cells } }

    mutating func count(differing cells: Int64, of table: String) {
        guard cells > 0 else { return }
        if let index = differing.firstIndex(where: { $0.table == table }) {
            differing[index].cells += cells
        } else {
            differing.append((table, cells))
        }
    }

    mutating func note(_ omission: Omission) {
        if !omissions.contains(omission) { omissions.append(omission) }
    }

    mutating func note(_ move: Move) {
        if !moves.contains(move) { moves.append(move) }
    }
}

extension VerificationReport: CustomStringConvertible {
    /// A text for people, with a few lines for each finding.
    package var description: String {
        let days = since.map { ", of the days from \($0) on" } ?? ""
        var lines = [
            "Recounted \(events) events of \(deliveries) deliveries in \(shards.count) of the log's shards "
                + "and compared \(cells) cells\(days)."
        ]
        for move in moves {
            let what =
                move.from == move.to ? "the present rules of its zone \(move.to)" : "zone \(move.to), from \(move.from)"
            lines.append(
                "App \(move.app) is being moved to \(what), which is unfinished, so no cell of it was compared. "
                    + "A running serve finishes it, and so do bellwether project --once and bellwether rebuild.")
        }
        if isUnderOlderWords {
            lines.append(
                "Words were merged or pruned, and the rebuild after that is unfinished, so no cell was compared. "
                    + "A running serve finishes it, and so do bellwether project --once and bellwether rebuild.")
        }
        for omission in omissions { lines.append("Not compared: \(omission.projector), \(omission.reason).") }
        for gap in gaps {
            let expected = gap.expected.map { "\($0)" } ?? "an unknown number"
            lines.append(
                "Batch \(gap.batch) has \(gap.found) events in shard \(gap.shard), but should have \(expected).")
        }
        if gapCount > gaps.count { lines.append("… and so on: \(gapCount) batches in all.") }
        for difference in differences { lines += difference.lines }
        if !differing.isEmpty {
            let tables = differing.map { "\($0.cells) in \($0.table)" }.joined(separator: ", ")
            let shown = differingCells > differences.count ? ", the first \(differences.count) shown" : ""
            lines.append("\(differingCells) cells differ\(shown): \(tables).")
        }
        let proved = since.map { "Verified: every cell of the days from \($0) on matches the log." }
        lines.append(isProved ? proved ?? "Verified: every cell matches the log." : "Not proved.")
        return lines.map { String(printable: $0) + "\n" }.joined()
    }
}

extension Difference {
    fileprivate var lines: [String] {
        let key = key.map { "\($0.column) \($0.text.isEmpty ? "''" : $0.text)" }.joined(separator: ", ")
        var lines = ["\(table): \(key) (shard \(shard))"]
        if isMissing {
            lines.append(
                "  is missing; recounted: " + values.compactMap { say($0.column, $0.recounted) }.joined(separator: ", ")
            )
        } else if isSurplus {
            lines.append(
                "  should not be there; stored: "
                    + values.compactMap { say($0.column, $0.stored) }.joined(separator: ", "))
        } else {
            lines += values.map { "  \($0.column): stored \(shown($0.stored)), recounted \(shown($0.recounted))" }
        }
        guard table != Recount.delivery.table else { return lines }
        for delivery in deliveries {
            let differs = delivery.differs == true ? ", whose own row differs" : ""
            lines.append("  behind it: delivery \(delivery.notificationKey) on install \(delivery.install)\(differs)")
        }
        return lines
    }

    private func say(_ column: String, _ text: String?) -> String? {
        guard let text, text != "0", !text.isEmpty else { return nil }
        return "\(column) \(text)"
    }

    private func shown(_ text: String?) -> String { text.map { $0.isEmpty ? "''" : $0 } ?? "nothing" }
}
