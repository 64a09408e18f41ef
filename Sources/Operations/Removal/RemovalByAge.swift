internal import Accounts
package import Clusters
internal import EventLog
internal import Health
internal import Postgres
package import Projections
internal import Sends
package import ServiceRuntime
internal import Values

/// Retention: removes everything older than some number of days: rows of Firebase's export, months of events after
/// sealing the deliveries that lose some, events without a month, and rejected events. In a cluster a month goes in all
/// cells or in none.
package struct RemovalByAge: Sendable {
    /// What was removed from one database.
    package struct Part: Sendable {
        package let database: CellDatabase
        package let months: [RetentionRun.RemovedMonth]
        /// What was removed without belonging to a month.
        package let remainder: RetentionRun.Remainder

        package var isEmpty: Bool { months.isEmpty && remainder.isEmpty }
    }

    /// What was removed.
    package struct Result: Sendable {
        package let parts: [Part]
        /// Rows of Firebase's export. All databases of a cluster have the same.
        package let exportRows: Int
        /// Cells in which something is left, and why.
        package let failures: [any Error]
    }

    /// The clocks of the machine and of the database disagree, so nothing was removed.
    package struct ClockFault: Error, CustomStringConvertible {
        package let description: String
    }

    private let databases: [CellDatabase]
    private let log: Log

    /// `databases` are all that the cluster has, hubs among them.
    package init(_ databases: [CellDatabase], log: Log) { (self.databases, self.log) = (databases, log) }

    private var cells: [CellDatabase] { databases.filter { !$0.isHub } }

    /// Calls `report` after each month of a cell. Before all databases have answered, nothing is removed.
    package func run(
        keeping days: Int, report: @escaping @Sendable (CellDatabase, RetentionRun.RemovedMonth) -> Void
    ) throws -> Result {
        let now = WallClock.now
        let surveys = try survey(days, now)
        // This comes first, while the deliveries still exist that link a message to its campaign. A hub reads those of
        // the cells, and the messages of each cell beside them.
        var exportRows = 0
        for database in databases.filter(\.isHub) + cells {
            try inside(database) {
                var connection = try open(database)
                exportRows = max(exportRows, try FCMExportStore.retain(days: days, now: now, on: &connection))
            }
        }
        try close(surveys)
        var (parts, failures): ([Part], [any Error]) = ([], [])
        cells.sideBySide { [log] database in
            var months: [RetentionRun.RemovedMonth] = []
            let run = RetentionRun(ProjectionControl(url: database.url, log: log))
            let remainder = try run.finish(days: days, now: now) { outcome in
                months.append(outcome)
                report(database, outcome)
            }
            return Part(database: database, months: months, remainder: remainder)
        } told: { database, result in
            do { parts.append(try result.get()) } catch { failures.append(database.error(error)) }
        }
        if databases.count == 1, let failure = failures.first { throw failure }
        return Result(parts: parts, exportRows: exportRows, failures: failures)
    }

    /// What each cell says of its months. Every database must be there, and its clock right.
    private func survey(_ days: Int, _ now: Timestamp) throws -> [Retention.Survey] {
        var surveys: [Retention.Survey] = []
        for database in databases {
            try inside(database) {
                var connection = try open(database)
                if let fault = try ClockComparison(on: &connection, clock: { WallClock.now }).fault() {
                    throw ClockFault(
                        description: "nothing was dropped, because the clocks disagree about what is old: \(fault).")
                }
                if !database.isHub { surveys.append(try run(in: database).survey(days: days, now: now)) }
            }
        }
        return surveys
    }

    /// Closes the months that are due in all cells.
    private func close(_ surveys: [Retention.Survey]) throws {
        for month in Retention.due(surveys) {
            let isClosed = try Retention.close(month, surveys: surveys) { cell, candidate in
                let isClosed = try inside(cells[cell]) { try run(in: cells[cell]).close(candidate) }
                CrashPoint.pass("month closed in a cell")
                return isClosed
            }
            guard isClosed else { continue }
            for (cell, survey) in surveys.enumerated() where !survey.has(month) {
                try inside(cells[cell]) { try run(in: cells[cell]).refuse(month) }
            }
        }
    }

    private func run(in database: CellDatabase) -> RetentionRun {
        RetentionRun(ProjectionControl(url: database.url, log: log))
    }

    private func open(_ database: CellDatabase) throws -> Connection {
        try LogSession.open(url: database.url, role: nil, purpose: "retention", log: log)
    }

    /// Names the cell in which something goes wrong.
    private func inside<Value>(_ database: CellDatabase, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch { throw database.error(error) }
    }
}
