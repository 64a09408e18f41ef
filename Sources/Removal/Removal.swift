internal import Accounts
internal import Health
package import Projections
internal import Sends
package import ServiceRuntime
package import Values

/// Retention: what is older than so many days goes from everywhere. Rows of Firebase's export, months of events with the
/// deliveries that lose by it sealed first, events without a month, what was refused.
package struct RemovalByAge: Sendable {
    /// What went.
    package struct Result: Sendable {
        package let months: [RetentionRun.Outcome]
        /// What belonged to no month.
        package let remainder: RetentionRun.Remainder
        package let exportRows: Int
    }

    /// The machine's clock and the database's disagree, so nothing went.
    package struct ClockFault: Error, CustomStringConvertible {
        package let description: String
    }

    private let url: String
    private let log: Log

    package init(database url: String, log: Log) {
        self.url = url
        self.log = log
    }

    /// `report` is told of each month when it is through.
    package func run(keeping days: Int, report: (RetentionRun.Outcome) -> Void) throws -> Result {
        var connection = try LogSession.open(url: url, role: nil, purpose: "retention", log: log)
        if let fault = try ClockComparison(on: &connection, clock: { WallClock.now }).fault() {
            throw ClockFault(
                description: "nothing was dropped, because the clocks disagree about what is old: \(fault).")
        }
        // First, while the deliveries that say of which campaign a message is are still there.
        let exportRows = try FCMExportStore.retain(days: days, now: WallClock.now, on: &connection)
        var months: [RetentionRun.Outcome] = []
        let remainder = try RetentionRun(ProjectionControl(url: url, log: log)).run(days: days, now: WallClock.now) {
            months.append($0)
            report($0)
        }
        return Result(months: months, remainder: remainder, exportRows: exportRows)
    }
}

/// Erasure: an install goes from everywhere. Its events and its part of the funnels first, which say what of Firebase's export
/// was its own; then that.
package struct RemovalOfInstall: Sendable {
    /// What went.
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
