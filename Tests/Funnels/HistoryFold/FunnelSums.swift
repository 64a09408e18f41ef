package import Projections

/// What stands in the projectors' tables after any number of steps: each cell the sum of its changes.
package struct FunnelSums: Equatable {
    package private(set) var tables: [String: [Tally.Cell: [Int64]]] = [:]

    package init() {}

    /// What deliveries count for when they are counted once.
    package init(of deliveries: [Delivery], _ days: [InstallDay] = []) {
        var step = FunnelStep()
        for delivery in deliveries { step.replace(nil, with: delivery) }
        for day in days { step.add(day) }
        add(step)
    }

    /// Adds the changes of a step, in the way of an upsert: an all-zero row stays.
    package mutating func add(_ step: FunnelStep) {
        for tally in step.tallies.joined() {
            for (cell, counts) in tally.changes {
                var sums = tables[tally.table.name]?[cell] ?? counts.map { _ in 0 }
                for (column, count) in counts.enumerated() { sums[column] += count }
                tables[tally.table.name, default: [:]][cell] = sums
            }
        }
    }

    /// Without the rows that count nothing any more.
    package var standing: FunnelSums {
        var sums = self
        sums.tables = tables.mapValues { cells in cells.filter { $1.contains { $0 != 0 } } }.filter { !$1.isEmpty }
        return sums
    }

    /// The cells of which a table has a row, all-zero ones too.
    package var cells: [String: Set<Tally.Cell>] { tables.mapValues { Set($0.keys) } }
}

/// The net change that one step of a projector makes in the cells of all funnels.
package struct FunnelStep {
    /// By projector, by table.
    package private(set) var tallies: [[Tally]] = Projectors.all.map { $0.tables.map { Tally($0) } }

    package init() {}

    package mutating func add(_ day: InstallDay) {
        for (place, projector) in Projectors.all.enumerated() { projector.count(day, 1, into: &tallies[place]) }
    }

    /// Takes a delivery out as it was, and puts it in as it is.
    package mutating func replace(_ old: Delivery?, with new: Delivery) {
        for (place, projector) in Projectors.all.enumerated() {
            if let old { projector.count(old, -1, into: &tallies[place]) }
            projector.count(new, 1, into: &tallies[place])
        }
    }
}
