internal import Accounts
internal import Console
internal import EmbeddedPostgres
internal import Glibc
internal import HTTPServer
internal import Postgres
internal import Posting
internal import Projections
internal import Reports
internal import Sends
internal import ServiceRuntime
internal import Serving
internal import Simulation
internal import Values

/// The steps of a demonstration.
struct DemoRun {
    let access: DatabaseAccess
    let log: Log
    let bar: ProgressBar
    let now: Timestamp

    /// The results of what the phones sent.
    struct Sent {
        let tally: PostCounts
        /// How many events the service should have rejected, and how many it should have known already.
        let faults: Int
        let repeated: Int
        /// The number of sends that the apps' servers reported.
        let sends: Int
        /// How many rows of Firebase's export were stored.
        let exported: Int
        /// The numbers that analysts read.
        let stored: (accepted: Int64, duplicate: Int64, rejected: Int64)

        /// Whether nothing was lost, and each event got the right answer.
        var isWhole: Bool {
            tally.addsUp && tally.rejected == faults && tally.duplicate == repeated
                && stored == (Int64(tally.accepted), Int64(tally.duplicate), Int64(tally.rejected))
        }
    }

    /// A report of the last day.
    struct Made {
        let app: String
        let report: Reporter.Made
        let html: String
    }

    /// Runs the service, and lets the days pass. Each morning, the report of the day before is made and kept, and given
    /// to `each`.
    func live(
        _ apps: inout [DemoApp], on owner: inout Connection, each: (String, Reporter.Made) -> Void = { _, _ in }
    ) throws -> Sent {
        let start = apps.map(\.start).min() ?? now
        let clock = SettableClock(start)
        let service = try startService(clock)
        defer { service.stop() }
        let traffic = DemoTraffic(to: ServerAddress("http://\(service.address)"), of: apps, clock: clock)
        var tally: PostCounts?
        defer { if tally == nil { _ = traffic.close() } }
        try traffic.register(apps)
        var reporter = try ReporterSession(access: access, log: log).open()
        // The last day's report is made at the end, in the present.
        let nights = apps.flatMap { app in app.nights.dropLast().map { (app.slug, $0) } }
            .filter { $0.1.morning < now }.sorted { $0.1.morning < $1.1.morning }
        for (app, night) in nights {
            try pass(to: night.morning, from: start, traffic, &apps)
            try catchUp()
            let made = try Reporter(app: app, period: .day(night.day), now: night.morning).make(on: &reporter)
            if case .failed(let error) = made.keeping { throw error }
            each(app, made)
        }
        try pass(to: now, from: start, traffic, &apps)
        let closed = traffic.close()
        tally = closed
        try catchUp()
        let exported = try importExports(of: &apps, on: &owner)
        return Sent(
            tally: closed, faults: traffic.faults, repeated: traffic.repeated, sends: traffic.sends, exported: exported,
            stored: try stored(on: &owner))
    }

    /// Imports what Firebase has exported of the apps. Returns how many rows were stored.
    private func importExports(of apps: inout [DemoApp], on owner: inout Connection) throws -> Int {
        let reader = FCMExportReader()
        var stored = 0
        for place in apps.indices {
            let app = try Apps.named(apps[place].slug, on: &owner).id
            var rows: [FCMExportRow] = []
            for line in apps[place].world.takeExport() where line.time <= now {
                rows.append(try reader.read(Array(line.text.utf8)))
            }
            stored += try FCMExportStore.append(rows, app: app, on: &owner).stored
        }
        return stored
    }

    /// Counts everything again from the log, and notes that it is proved.
    func prove() throws -> VerificationReport {
        try Verifier().verify(
            lanes: 2,
            opening: { [access, log] in
                try LogSession.open(url: access.url, role: nil, purpose: "demo", log: log, statementSeconds: 0)
            },
            progress: { [bar] step in
                bar.show(0.9 + 0.08 * Double(step.place) / Double(step.count), "proving the funnels")
            })
    }

    /// The reports of the last day in all formats.
    func report(_ apps: [DemoApp], into directory: String) throws -> [Made] {
        var reporter = try ReporterSession(access: access, log: log).open()
        let output = try reportDirectory(directory)
        return try apps.map { app in
            bar.show(0.99, "writing the report of \(app.slug)")
            let made = try Reporter(app: app.slug, period: .day(app.lastDay), now: now).make(on: &reporter)
            if case .failed(let error) = made.keeping { throw error }
            let own = try output.directory(app.slug)
            let path = "\(directory)/\(app.slug)/\(app.lastDay)"
            for format in ReportFormat.allCases {
                try own.write(made.documents[format], to: "\(app.lastDay).\(format.fileExtension)")
            }
            return Made(app: app.slug, report: made, html: "\(path).\(ReportFormat.html.fileExtension)")
        }
    }

    /// `reports` in the data directory. That directory belongs to the database's user, so do not follow a link they
    /// may have put there.
    private func reportDirectory(_ path: String) throws -> OutputDirectory {
        guard let data = access.server?.dataDirectory else { return try OutputDirectory(path, isMade: true) }
        var status = stat()
        let owner: Set<uid_t> = unsafe stat(data, &status) == 0 ? [status.st_uid] : []
        return try OutputDirectory(data, trusting: owner).directory("reports")
    }

    private func startService(_ clock: SettableClock) throws -> Service {
        var configuration = Service.Configuration(
            url: access.url, server: HTTPServerConfiguration(listen: .tcp(host: "127.0.0.1", port: 0)), node: "demo")
        configuration.clock = { clock.now }
        let service = try Service(configuration, log: log, revive: {})
        service.start()
        if let missing = service.waitUntilReady(by: .after(seconds: 30)) {
            service.stop()
            throw Failure("the service did not become ready: \(missing)")
        }
        return service
    }

    /// Lets time pass in steps of ten minutes, so that the progress bar moves and no queue grows.
    private func pass(
        to end: Timestamp, from start: Timestamp, _ traffic: DemoTraffic, _ apps: inout [DemoApp]
    ) throws {
        var time = apps.map(\.world.now).min() ?? end
        while time < end {
            time = min(time + 600_000_000, end)
            try traffic.advance(&apps, to: time)
            let events = traffic.tally.sent
            bar.show(
                0.9 * Double(time - start) / Double(now - start),
                "\(time.day) \(time.hourAndMinute) UTC, \(events) events")
        }
        try traffic.settle(at: end)
    }

    private func catchUp() throws {
        let (_, stopped) = try ProjectionControl(url: access.url, log: log).catchUp()
        if let first = stopped.first { throw Failure("\(first.name) has stopped: \(String(printable: first.reason))") }
    }

    private func stored(on owner: inout Connection) throws -> (accepted: Int64, duplicate: Int64, rejected: Int64) {
        let row = try owner.query(
            """
            SELECT coalesce(sum(accepted), 0)::bigint, coalesce(sum(duplicate), 0)::bigint,
                coalesce(sum(rejected), 0)::bigint
            FROM analytics.data_quality
            """)[0]
        return (try row.get(0), try row.get(1), try row.get(2))
    }
}

extension Timestamp {
    fileprivate var day: Substring { description.prefix(10) }
    fileprivate var hourAndMinute: Substring { description.dropFirst(11).prefix(5) }
}
