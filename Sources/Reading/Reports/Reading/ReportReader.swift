internal import Postgres
internal import Telemetry
internal import Values

/// Reads the report of a day or week from `analytics.*`. It reads in one snapshot, so all its numbers describe the same
/// moment. It does not read what earlier reports said: `restated` stays empty.
struct ReportReader {
    let app: String
    var period: Period
    /// When the report is made: how settled the day is depends on it.
    let now: Timestamp
    /// If all apps together have more deliveries in the four weeks, only a sample of the log is read: see `LogSample`.
    var mostDeliveries = LogSample.mostDeliveries
    /// The most that its lists name.
    var bound = ListBound()

    /// Reads it in a transaction of its own. The role of the connection needs `analytics.*` and nothing else.
    func read(on connection: inout Connection) throws(ReportError) -> Report {
        try connection.inSnapshot { (connection: inout Connection) throws(ReportError) in
            try read(inSnapshotOf: &connection)
        }
    }

    /// Reads it in the caller's transaction, so that what the caller reads describes the same moment.
    func read(inSnapshotOf connection: inout Connection) throws(ReportError) -> Report {
        let app = try ReportedApp.find(app, at: now, on: &connection)
        guard !app.daysAreMoving else { throw .daysAreMoving(app: app.slug, timeZone: app.timeZone) }
        do throws(PostgresError) { return try read(app, on: &connection) } catch { throw .database(error) }
    }

    /// With what is known of arrivals, or else it is read.
    private func read(
        _ app: ReportedApp, knowing known: Arrivals? = nil, on connection: inout Connection
    ) throws(PostgresError) -> Report {
        // Compiling these queries takes longer than it saves. Of results that are kept for views, only those count that
        // nothing has changed since.
        try connection.execute(script: "SET LOCAL jit = off; SET LOCAL bellwether.kept = 'current'")
        let position: Int64 = try connection.query("SELECT coalesce(min(position), 0) FROM analytics.projections")[0]
            .get(0)
        let scope = try ReportScope(
            app, period, now: now, mostDeliveries: mostDeliveries, bound: bound, on: &connection)
        let arrivals: Arrivals
        if let known { arrivals = known } else { arrivals = try Arrivals.read(scope, on: &connection) }
        // The headline depends on whether the day has settled.
        var report = Report(
            app: scope.app, period: period, timeZone: scope.timeZone, position: position, madeAt: now,
            settling: Settling(scope, arrivals))
        for section in report.sections { try section.read(into: &report, scope, on: &connection) }
        report.judgeTogether()
        if case .week = period { report.carried = ToDoSection.open(try days(app, arrivals, on: &connection)) }
        return report
    }
}

extension ReportReader {
    /// The days of the week, as far as they have begun, each as its own report has it now.
    private func days(
        _ app: ReportedApp, _ arrivals: Arrivals, on connection: inout Connection
    ) throws(PostgresError) -> [Report] {
        let days = period.days
        var reports: [Report] = []
        for place in 0..<period.length {
            let day = days.lowerBound.advanced(by: place)
            guard day <= app.today else { break }
            var reader = self
            reader.period = .day(day)
            reports.append(try reader.read(app, knowing: arrivals, on: &connection))
        }
        return reports
    }
}

extension Connection {
    /// Runs a body that sees the views as they are at one moment.
    mutating func inSnapshot<Result>(
        _ body: (inout Connection) throws(ReportError) -> Result
    ) throws(ReportError) -> Result {
        do {
            return try transaction(.repeatableReadOnly, failingWith: ReportError.self, body)
        } catch {
            switch error {
            case .database(let error): throw .database(error)
            case .body(let error): throw error
            }
        }
    }
}
