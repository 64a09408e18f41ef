internal import ServiceRuntime

/// Figures over time: a chart for each, all with the same points.
package struct Trend: Hashable, Sendable {
    var caption: String
    var charts: [Chart]

    init(_ caption: String, _ charts: [Chart]) { (self.caption, self.charts) = (caption, charts) }

    /// The trend as a table: a row for each point in time.
    var table: Table {
        let rows = charts.first.map { first in
            first.points.enumerated().map { place, point in
                [Table.Cell(first.name(of: point))] + charts.map { Table.Cell($0.words($0.points[place].value)) }
            }
        }
        return Table(caption, columns: [.name("When")] + charts.map { .number($0.title) }, rows: rows ?? [])
    }
}

/// A chart as a line of text. Points that still change are set apart.
extension Chart {
    /// The latest figure.
    var latest: String { words(points.last?.value) }

    private var firstOpen: Int { points.lastIndex { !$0.isOpen }.map { $0 + 1 } ?? 0 }

    /// The range of the settled points in words, `21.0 % to 24.2 %`; of all points if none has settled.
    var range: String {
        let settled = points[..<firstOpen].compactMap(\.value)
        let known = settled.isEmpty ? points.compactMap(\.value) : settled
        let (low, high) = (words(known.min()), words(known.max()))
        return low == high ? low : "\(low) to \(high)"
    }

    /// One character for each point, a dot where nothing is known, and a bar before those that still change:
    /// `▃▄·▆▇█▂┊▁`. The lowest is the least value, the highest the greatest. A line that does not move lies in the
    /// middle.
    var sparkline: String {
        let known = points.compactMap(\.value)
        guard let low = known.min(), let high = known.max() else { return String(repeating: "·", count: points.count) }
        let blocks = points.map { point -> Character in
            guard let value = point.value else { return "·" }
            let height = high > low ? (value - low) / (high - low) : 0.5
            let place = Int(saturating: (height * Double(Self.blocks.count - 1)).rounded())
            return Self.blocks[min(max(place, 0), Self.blocks.count - 1)]
        }
        let (settled, open) = (blocks[..<firstOpen], blocks[firstOpen...])
        return String(settled) + (settled.isEmpty || open.isEmpty ? "" : "┊") + String(open)
    }

    private static let blocks: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
}
