internal import Accounts
internal import Health
package import Projections
internal import Sends
package import ServiceRuntime
package import Values

/// Retention: removes everything older than some number of days: rows of Firebase's export, months of events after sealing the
/// deliveries that lose some, events without a month, and rejected events.
package struct RemovalByAge: Sendable {
    /// What was removed.
    package struct Result: Sendable {
        package let months: [RetentionRun.Outcome]
        /// What was removed without belonging to a month.
        package let remainder: RetentionRun.Remainder
        package let exportRows: Int
    }

    /// The clocks of the machine and of the database disagree, so nothing was removed.
    package struct ClockFault: Error, CustomStringConvertible {
        package let description: String
    }

    private let url: String
    private let log: Log

    package init(database url: String, log: Log) {
        self.url = url
        self.log = log
    }

    /// Calls `report` after each month.
    package func run(keeping days: Int, report: (RetentionRun.Outcome) -> Void) throws -> Result {
        var connection = try LogSession.open(url: url, role: nil, purpose: "retention", log: log)
        if let fault = try ClockComparison(on: &connection, clock: { WallClock.now }).fault() {
            throw ClockFault(
                description: "nothing was dropped, because the clocks disagree about what is old: \(fault).")
        }
        // This comes first, while the deliveries still exist that link a message to its campaign.
        let exportRows = try FCMExportStore.retain(days: days, now: WallClock.now, on: &connection)
        var months: [RetentionRun.Outcome] = []
        let remainder = try RetentionRun(ProjectionControl(url: url, log: log)).run(days: days, now: WallClock.now) {
            months.append($0)
            report($0)
        }
        return Result(months: months, remainder: remainder, exportRows: exportRows)
    }
}

/// Erasure: removes an install from everywhere. First its events and its part of the funnels, which show which rows of
/// Firebase's export belong to it; then those rows.
package struct RemovalOfInstall: Sendable {
    /// What was removed.
    package struct Receipt: Sendable {
        package let erased: ErasureRun.Receipt
        package let exportRows: Int
    }

    private let url: String
    private let log: Log

    package init(database url: String, log: Log) {
        self.url = url
        self.log = log
    }

    package func run(_ install: UUID, ofApp slug: String) throws -> Receipt {
        var connection = try LogSession.open(url: url, role: nil, purpose: "erasure", log: log)
        let app = try Apps.named(slug, on: &connection)
        let erased = try ErasureRun(ProjectionControl(url: url, log: log)).run(app: app.id, install: install)
        return Receipt(erased: erased, exportRows: try FCMExportStore.forgetErased(of: app.id, on: &connection))
    }
}
