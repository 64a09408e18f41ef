/// Figures over time: a line for each, all with the same points.
package struct Trend: Hashable, Sendable {
    var caption: String
    /// The points in time, the earliest first, as people call them.
    var times: [String]
    var lines: [Line]
    /// The last so many points still change. They are drawn apart and do not count for the range that is told.
    var unsettled: Int

    init(_ caption: String, times: [String], lines: [Line], unsettled: Int = 0) {
        (self.caption, self.times, self.lines, self.unsettled) = (caption, times, lines, unsettled)
    }

    package struct Line: Hashable, Sendable {
        var name: String
        var points: [Point]

        init(_ name: String, points: [Point]) { (self.name, self.points) = (name, points) }
    }

    /// A figure at a time, also in words.
    package struct Point: Hashable, Sendable {
        /// Nil if nothing is known.
        var value: Double?
        var told: String

        init(_ value: Double?, _ told: String) { (self.value, self.told) = (value, told) }
    }
}

extension Trend {
    /// The same as a table: a row for each point in time.
    var table: Table {
        Table(
            caption, columns: [.name("When")] + lines.map { .number($0.name) },
            rows: times.indices.map { place in
                [Table.Cell(times[place])] + lines.map { Table.Cell($0.points[place].told) }
            })
    }

    /// Splits what goes with the points into that of settled points and that of the others.
    func parts<Element>(_ list: [Element]) -> (settled: ArraySlice<Element>, unsettled: ArraySlice<Element>) {
        let settled = max(0, list.count - unsettled)
        return (list[..<settled], list[settled...])
    }

    /// Where between the least and the greatest value a line is drawn. One that does not move lies in the middle.
    func heights(of line: Line) -> [Double?] {
        let extremes = Self.extremes(of: line.points[...]).compactMap(\.value)
        guard let low = extremes.first, let high = extremes.last else { return line.points.map { _ in nil } }
        return line.points.map { point in
            point.value.map { high > low ? min(max(($0 - low) / (high - low), 0), 1) : 0.5 }
        }
    }

    /// The range of the settled points in words, `21.0 % to 24.2 %`; of all points if none has settled.
    func range(of line: Line) -> String {
        let settled = Self.extremes(of: parts(line.points).settled)
        let extremes = settled.isEmpty ? Self.extremes(of: line.points[...]) : settled
        guard let low = extremes.first, let high = extremes.last else { return "–" }
        return low.told == high.told ? low.told : "\(low.told) to \(high.told)"
    }

    /// The least point and the greatest; none if nothing is known.
    private static func extremes(of points: ArraySlice<Point>) -> [Point] {
        let sorted = points.filter { $0.value != nil }.sorted { $0.value ?? 0 < $1.value ?? 0 }
        return sorted.isEmpty ? [] : [sorted[0], sorted[sorted.count - 1]]
    }

    /// One character for each point, a dot where nothing is known, and a bar before those that still change: `▃▄·▆▇█▂┊▁`.
    func sparkline(of line: Line) -> String {
        let (settled, unsettled) = parts(
            heights(of: line).map { height -> Character in
                guard let height else { return "·" }
                return Trend.blocks[Int((height * Double(Trend.blocks.count - 1)).rounded())]
            })
        return String(settled) + (settled.isEmpty || unsettled.isEmpty ? "" : "┊") + String(unsettled)
    }

    private static let blocks: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
}
