package import Postgres
package import Telemetry

/// Reads the report of a day from `analytics.*` in one snapshot, so that all its numbers are of one moment. What earlier
/// reports told is not its business: `restated` stays empty.
package struct ReportReader: Sendable {
    private let app: String
    private let day: CivilDate
    private let now: Timestamp

    /// With more deliveries than these, of all apps in the four weeks, the log is read by samples: see `LogSample`.
    package var mostDeliveries = LogSample.mostDeliveries

    /// `now` is when the report is made: how settled the day is depends on it.
    package init(app: String, day: CivilDate, now: Timestamp) {
        (self.app, self.day, self.now) = (app, day, now)
    }

    /// Reads it, in a transaction of its own. The role of the connection needs `analytics.*` and nothing else.
    package func read(on connection: inout Connection) throws(ReportError) -> Report {
        try connection.inSnapshot { (connection: inout Connection) throws(ReportError) in
            try read(inSnapshotOf: &connection)
        }
    }

    /// Reads it in a transaction that others read in too, so that what they add is of the same moment.
    func read(inSnapshotOf connection: inout Connection) throws(ReportError) -> Report {
        let scope = try ReportScope.find(app, day: day, now: now, on: &connection)
        do throws(PostgresError) { return try read(scope, on: &connection) } catch { throw .database(error) }
    }

    private func read(_ scope: ReportScope, on connection: inout Connection) throws(PostgresError) -> Report {
        // Compiling these queries costs more than it saves.
        try connection.execute(script: "SET LOCAL jit = off")
        let position: Int64 = try connection.query("SELECT coalesce(min(position), 0) FROM analytics.projections")[0]
            .get(0)
        let sample = try LogSample.choose(for: scope, mostDeliveries: mostDeliveries, on: &connection)
        let settling = try Settling.read(scope, of: sample, on: &connection)
        var report = Report(
            app: scope.app, day: scope.day, timeZone: scope.timeZone, position: position, madeAt: scope.now,
            headline: try .read(scope, settling: settling, on: &connection), settling: settling)
        report.isSealed = try scope.isSealed(delivered: report.headline.counts.delivered, on: &connection)
        let buttons = try Button.read(scope, on: &connection)
        report.categories = try CategorySummary.read(
            scope, buttons: buttons, withLaunches: !report.isSealed, on: &connection)
        report.deadActions = try DeadAction.read(scope, of: sample, buttons: buttons, on: &connection)
        report.campaigns = try CampaignSummary.read(scope, on: &connection)
        // What was sealed before there was this funnel is not in it.
        if report.isSealed, report.campaigns.reduce(0, { $0 + $1.counts.delivered }) != report.headline.counts.delivered
        {
            report.campaigns = []
        }
        report.stories = try StorySummary.read(scope, on: &connection)
        report.threads = try ThreadSummary.read(scope, on: &connection)
        report.versions = try VersionSummary.read(scope, on: &connection)
        report.suppressed = try Suppressed.read(scope, on: &connection)
        report.silent = try SilentSummary.read(scope, on: &connection)
        report.media = try MediaSummary.read(scope, on: &connection)
        report.mediaWithButtons = MediaWithButtons.find(in: report.categories)
        report.quality = try Quality.read(scope, on: &connection)
        if !report.isSealed { try readDeliveries(into: &report, scope, on: &connection) }
        return report
    }

    /// What is told delivery by delivery, of a day of which all are there.
    private func readDeliveries(
        into report: inout Report, _ scope: ReportScope, on connection: inout Connection
    ) throws(PostgresError) {
        report.stackDepths = try StackDepth.read(scope, on: &connection)
        report.fallbackCost = try FallbackCost.read(scope, on: &connection)
        report.reach = try Reach.read(scope, on: &connection)
        report.hours = try Hour.read(scope, on: &connection)
    }
}
