internal import Postgres
internal import ServiceRuntime

/// The changes that deliveries and days of installs make to the cells of projectors: gathered here, and written
/// together.
struct CellChanges {
    typealias Target = (projector: any Projector.Type, generation: Int32)

    private let targets: [Target]
    /// Whether each projector is written separately, so that a failure names it.
    private let apart: Bool
    private var tallies: [[Tally]]
    /// Nil if nobody reads the deliveries that change: those of sealed counts, and those that a bulk pass makes.
    private var revisions: DayRevisions?

    /// How many cells are held before they are written, and those of up to sixteen deliveries more.
    private let most: Int
    /// How many deliveries and days were counted since it looked.
    private var unbounded = 0
    private let watch: PhaseWatch<StepPhase>?

    init(
        of targets: [Target], revising revisions: DayRevisions? = nil, apart: Bool = false,
        atMost most: Int = Step.Limits().cells, watch: PhaseWatch<StepPhase>? = nil
    ) {
        (self.targets, self.revisions, self.apart, self.most, self.watch) = (targets, revisions, apart, most, watch)
        tallies = targets.map { target in target.projector.tables.map(Tally.init) }
    }

    /// Adds deliveries as they are now, and subtracts them as they were. It goes one by one, since a delivery changes
    /// little even if it counts in many cells.
    mutating func count(_ changes: Changes, on connection: inout Connection) throws(StepError) {
        for deliveries in [changes.replaced, changes.updated, changes.inserted] { revisions?.note(deliveries) }
        for index in changes.replaced.indices {
            count(changes.replaced[index], -1)
            if index < changes.updated.count { count(changes.updated[index], 1) }
            try bound(on: &connection)
        }
        for (old, new) in changes.credited {
            count(old, -1)
            count(new, 1)
            try bound(on: &connection)
        }
        for delivery in changes.inserted {
            count(delivery, 1)
            try bound(on: &connection)
        }
    }

    /// Does the same for days of installs.
    mutating func count(_ changes: InstallChanges, on connection: inout Connection) throws(StepError) {
        for (days, weight) in [(changes.replaced, -1), (changes.updated, 1), (changes.inserted, 1)] {
            revisions?.note(days)
            for day in days {
                for index in targets.indices {
                    targets[index].projector.count(day, Int64(weight), into: &tallies[index])
                }
                try bound(on: &connection)
            }
        }
    }

    private mutating func count(_ delivery: Delivery, _ weight: Int64) {
        for index in targets.indices { targets[index].projector.count(delivery, weight, into: &tallies[index]) }
    }

    private mutating func bound(on connection: inout Connection) throws(StepError) {
        // Counting the cells after each delivery took a sixth of all that a step computes.
        unbounded += 1
        guard unbounded >= 16 else { return }
        unbounded = 0
        guard cells > most else { return }
        for index in tallies.indices { for table in tallies[index].indices { tallies[index][table].forgetUnchanged() } }
        // Half of the limit: otherwise the next deliveries would make it search them again and again.
        if cells > most / 2 { try write(on: &connection) }
    }

    private var cells: Int { tallies.reduce(0) { sum, tables in tables.reduce(sum) { $0 + $1.cells } } }

    /// Writes the gathered changes, and that the days have changed, in one round trip.
    mutating func write(on connection: inout Connection) throws(StepError) {
        let before = watch?.enter(.cells)
        defer { if let before { watch?.enter(before) } }
        var statements: [Statement] = []
        for (target, tables) in zip(targets, tallies) {
            statements += tables.compactMap { $0.upsert(into: target.generation) }
            guard apart, !statements.isEmpty else { continue }
            do { _ = try connection.pipeline(statements) } catch { throw .projector(target.projector.name, error) }
            statements = []
        }
        if let revising = revisions?.take() { statements.append(revising) }
        if !statements.isEmpty {
            do { _ = try connection.pipeline(statements) } catch { throw .database(error) }
        }
        tallies = targets.map { target in target.projector.tables.map(Tally.init) }
    }
}

extension Tally {
    /// Adds the changes to the cells of a table's partition; nil if there are none.
    func upsert(into number: Int32) -> Statement? {
        let changes = changes
        guard !changes.isEmpty else { return nil }
        let keys = table.keys.map { Statement.quoted($0.name) }
        let key = (["app", "day"] + keys + ["shard", "generation"]).joined(separator: ", ")
        let counts = table.counts.map(Statement.quoted)
        var parameters: [Statement.Parameter] = [
            .init(number), .init(changes.map(\.cell.app)), .init(changes.map(\.cell.day)),
            .init(changes.map(\.cell.shard)),
        ]
        for (index, column) in table.keys.enumerated() {
            let values = changes.map { $0.cell.keys[index] }
            switch column.kind {
            case .word: parameters.append(.init(values))
            case .code, .number: parameters.append(.init(values.map { Int16(truncatingIfNeeded: $0) }))
            }
        }
        for index in counts.indices {
            parameters.append(.init(changes.map { $0.counts[$0.counts.startIndex + index] }))
        }
        let columns = (["app", "day", "shard"] + keys + counts).joined(separator: ", ")
        let arrays = parameters.indices.dropFirst().map { "$\($0 + 1)" }.joined(separator: ", ")
        let sums = counts.map { "\($0) = cell.\($0) + excluded.\($0)" }.joined(separator: ", ")
        let name = Statement.quoted("\(table.name)_\(number)")
        // The names come from the table's declaration in this program; values are bound.
        return Statement(
            """
            INSERT INTO projection.\(name) AS cell (generation, \(columns))
            SELECT $1, \(columns) FROM unnest(\(arrays)) AS change (\(columns))
            ON CONFLICT (\(key)) DO UPDATE SET \(sums)
            """, parameters)
    }
}
