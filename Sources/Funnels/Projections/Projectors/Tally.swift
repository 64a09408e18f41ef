internal import ServiceRuntime
package import Values

/// The net changes to a table's cells, gathered in memory before they are written.
package struct Tally {
    package let table: TallyTable
    private var places: [Cell: Int] = [:]
    /// The counts of all cells, row after row, one number for each count of the table.
    private var counts: [Int64] = []

    /// Names a row of the table.
    package struct Cell: Hashable, Sendable {
        package let app: Int32
        package let day: CivilDate
        package let shard: Int16
        package let keys: Keys

        // Few tables have more than four keys. Each pair is a word of its own: if they were mixed into one, a client
        // that chooses them could have many cells with one hash.
        package func hash(into hasher: inout Hasher) {
            hasher.combine(Int64(app) << 32 | Int64(UInt32(truncatingIfNeeded: day.daysSince1970)))
            hasher.combine(pair(0))
            hasher.combine(pair(2) ^ Int64(shard) << 16)
            guard pair(4) | pair(6) != 0 else { return }
            hasher.combine(pair(4))
            hasher.combine(pair(6))
        }

        private func pair(_ first: Int) -> Int64 {
            Int64(keys[first]) << 32 | Int64(UInt32(bitPattern: keys[first + 1]))
        }
    }

    /// The keys of a cell besides app, day and shard; 0 beyond those that the table has.
    package typealias Keys = SIMD8<Int32>

    package init(_ table: TallyTable) {
        self.table = table
    }

    /// Adds to the counts of a delivery's cell, column by column.
    package mutating func add(_ amounts: [Int64], times weight: Int64, at keys: Keys, of delivery: Delivery) {
        let start = place(at: keys, of: delivery)
        for (column, amount) in amounts.enumerated() {
            // No number of events comes near the greatest one, but a damaged state may, and must not end the process.
            let change = weight.multipliedReportingOverflow(by: amount).partialValue
            counts[start + column] = counts[start + column].addingSaturated(change)
        }
    }

    /// Adds to the columns whose bits are set; the lowest bit is the first column.
    package mutating func add(_ columns: UInt32, times weight: Int64, at keys: Keys, of delivery: Delivery) {
        let start = place(at: keys, of: delivery)
        var rest = columns
        while rest != 0 {
            counts[start + rest.trailingZeroBitCount] += weight
            rest &= rest - 1
        }
    }

    /// Adds to the columns whose bits are set, for a day of an install.
    package mutating func add(_ columns: UInt32, times weight: Int64, at keys: Keys, of day: InstallDay) {
        let name = day.name
        let start = place(of: Cell(app: name.app, day: name.day, shard: name.shard, keys: keys))
        for column in table.counts.indices where columns >> UInt32(column) & 1 == 1 { counts[start + column] += weight }
    }

    private mutating func place(at keys: Keys, of delivery: Delivery) -> Int {
        place(of: Cell(app: delivery.name.app, day: delivery.day, shard: delivery.name.shard, keys: keys))
    }

    private mutating func place(of cell: Cell) -> Int {
        if let place = places[cell] { return place }
        let place = counts.count
        counts.append(contentsOf: repeatElement(0, count: table.counts.count))
        places[cell] = place
        return place
    }

    /// How many cells it holds, changed or not.
    package var cells: Int { places.count }

    /// Drops the cells whose changes add up to nothing.
    package mutating func forgetUnchanged() {
        var kept = Tally(table)
        for (cell, row) in changes {
            kept.places[cell] = kept.counts.count
            kept.counts.append(contentsOf: row)
        }
        self = kept
    }

    /// The cells that change, with what is added to each column.
    package var changes: [(cell: Cell, counts: ArraySlice<Int64>)] {
        let width = table.counts.count
        return places.compactMap { cell, place in
            let row = counts[place..<(place + width)]
            return row.contains { $0 != 0 } ? (cell, row) : nil
        }
    }
}

extension Tally.Keys {
    package init(
        _ first: Int32, _ second: Int32 = 0, _ third: Int32 = 0, _ fourth: Int32 = 0, _ fifth: Int32 = 0,
        _ sixth: Int32 = 0
    ) {
        self.init(first, second, third, fourth, fifth, sixth, 0, 0)
    }
}

/// Times are counted in buckets: one for each microsecond below 8 µs, then eight for each doubling. So medians and
/// percentiles can be computed from sums. The middle of a bucket is off by a sixteenth at most, and those below 16 µs
/// are exact.
enum TimeBuckets {
    static func bucket(ofMicroseconds time: Int64) -> Int16 {
        guard time >= 8 else { return Int16(time) }
        let exponent = 63 - time.leadingZeroBitCount
        return Int16((exponent - 2) * 8 + Int((time >> Int64(exponent - 3)) & 7))
    }

    /// The same in SQL, for the recount: the exponent is the number of the highest bit that is set.
    static func sql(_ microseconds: String) -> String {
        let exponent = "(64 - position(B'1' IN (\(microseconds))::bit(64)))"
        return """
            (CASE WHEN \(microseconds) < 8 THEN \(microseconds)
                ELSE (\(exponent) - 2) * 8 + (\(microseconds) >> (\(exponent) - 3) & 7) END)::smallint
            """
    }
}
