/// How far something has read the log, as people and programs write it: one number or, where each of several cells has
/// a log, one a cell: `cell-1:12,cell-2:40`.
package struct LogPosition: Sendable, Hashable, CustomStringConvertible {
    private struct Part: Sendable, Hashable {
        /// Nil for the log of a database that stands for itself.
        let cell: String?
        var batch: Int64
    }

    /// In order.
    private var parts: [Part]

    package init(_ parts: [(cell: String?, batch: Int64)]) {
        self.parts = parts.map { Part(cell: $0.cell, batch: $0.batch) }
    }

    /// In the only log that there is.
    package init(_ batch: Int64) { self.init([(nil, batch)]) }

    /// Reads a position; nil if the text is none.
    package init?(_ text: String) {
        var parts: [Part] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let pair = part.split(separator: ":", omittingEmptySubsequences: false)
            guard pair.count <= 2, let batch = Int64(pair[pair.count - 1]), batch >= 0 else { return nil }
            let cell = pair.count == 2 ? String(pair[0]) : nil
            guard cell != "", !parts.contains(where: { $0.cell == cell || $0.cell == nil || cell == nil }) else {
                return nil
            }
            parts.append(Part(cell: cell, batch: batch))
        }
        self.parts = parts
    }

    /// This position for these logs; nil if it names a log that is not among them. A log that it does not name starts
    /// at the beginning. 0 is the beginning of all logs.
    package func among(_ cells: [String?]) -> LogPosition? {
        guard self == LogPosition(0) || parts.allSatisfy({ cells.contains($0.cell) }) else { return nil }
        return LogPosition(cells.map { ($0, self[$0]) })
    }

    /// The position in the log of a cell; 0 where it names none.
    package subscript(cell: String?) -> Int64 {
        get { parts.first { $0.cell == cell }?.batch ?? 0 }
        set {
            if let place = parts.firstIndex(where: { $0.cell == cell }) {
                parts[place].batch = newValue
            } else {
                parts.append(Part(cell: cell, batch: newValue))
            }
        }
    }

    /// The number, if there is only one log.
    package var number: Int64? { parts.count == 1 && parts[0].cell == nil ? parts[0].batch : nil }

    /// Whether nothing was read in any log.
    package var isBeginning: Bool { parts.allSatisfy { $0.batch == 0 } }

    package var description: String {
        parts.map { part in (part.cell.map { "\($0):" } ?? "") + "\(part.batch)" }.joined(separator: ",")
    }
}
