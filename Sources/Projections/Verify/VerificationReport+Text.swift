internal import ServiceRuntime

extension VerificationReport: CustomStringConvertible {
    /// For people, a few lines for each thing found.
    package var description: String {
        var lines = [
            "Recounted \(events) events of \(deliveries) deliveries in \(shards.count) of the log's shards "
                + "and compared \(cells) cells."
        ]
        for move in moves {
            lines.append(
                "App \(move.app) is being moved to zone \(move.to): days that are still in \(move.from) "
                    + "differ until then.")
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
        lines.append(isProved ? "Verified: every cell matches the log." : "Not proved.")
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
