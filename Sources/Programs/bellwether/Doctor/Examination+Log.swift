internal import EventLog
internal import Health
internal import Letters
internal import Postgres
internal import Projections
internal import ServiceRuntime
internal import Telemetry
internal import Values

extension Examination {
    /// Events of a month without a partition go where indexes are large, and moving them later is expensive.
    static let partitions = Examination(name: "partitions", isOfCells: true) { _, connection in
        let rows = try connection.query(
            """
            SELECT to_char(wanted.month, 'YYYY-MM')
            FROM generate_series(0, 1) AS ahead,
                LATERAL (SELECT date_trunc('month', now()) + ahead * interval '1 month') AS wanted (month)
            WHERE NOT EXISTS (SELECT FROM log.partition AS p WHERE p.month = wanted.month::date)
            """)
        guard !rows.isEmpty else { return .ok("this month and the next have a partition") }
        var months: [String] = []
        for row in rows { months.append(try row.get(0)) }
        return .warn(
            "there is no partition for \(months.joined(separator: ", "))",
            do: "start serve, which makes them ahead; if it runs, its log says what is in the way",
            see: .partitionMissing)
    }

    static let projections = Examination(name: "projections", isOfCells: true) { _, connection in
        let all = try ProjectionStatus.all(on: &connection)
        if let stopped = all.first(where: { $0.stop != nil }), let stop = stopped.stop {
            let names = all.filter { $0.stop != nil }.map(\.name)
            return .fail(
                "\(names.joined(separator: ", ")) stopped at batch \(stop.batch): \(stop.reason)",
                do: "remove the cause, then bellwether projection resume \(stopped.name)", see: .projectionStopped)
        }
        if let stalled = all.first(where: { $0.status != "running" }) {
            return .fail(
                "the funnels are \(stalled.lag) batches behind the log and have not moved for a minute",
                do: "start serve, or run bellwether project --once; if serve runs, its log says what is in the way",
                see: .funnelsBehind)
        }
        let lag = all.map(\.lag).max() ?? 0
        return .ok(lag == 0 ? "the funnels are level with the log" : "the funnels are \(lag) batches behind and move")
    }

    static let unfinished = Examination(name: "unfinished", isOfCells: true) { _, connection in
        let work = try UnfinishedWork.all(on: &connection)
        guard let first = work.first else { return .ok("no command was interrupted") }
        let more = work.count == 1 ? "" : "; and \(work.count - 1) more (bellwether status)"
        return .warn(first.what + more, do: "if nobody is working on it, \(first.remedy)", see: .interrupted)
    }
}

extension Examination {
    /// A day, plus an hour or two for the run itself.
    private static let mostHours: Int64 = 26

    static let reports = Examination(name: "reports") { _, connection in
        // Where there is a hub, reports are made on it: a cell does not have all of a day.
        if let map = try ClusterMap.read(on: &connection), !map.isOfHub, map.cells.contains(where: \.isHub) {
            return nil
        }
        let now = WallClock.now
        let apps = try LastReport.each(on: &connection)
        // A new app has not had its first night yet.
        let late = apps.filter { (now - ($0.keptAt ?? $0.appMadeAt)) / 3_600_000_000 >= mostHours }
        guard let worst = late.first else {
            return .ok(apps.isEmpty ? "there is no app yet" : "every app has its report of last night, or is new")
        }
        let last = worst.keptAt.map { "the last one was kept at \($0)" } ?? "none was ever kept"
        let more = late.count == 1 ? "" : ", and \(late.count - 1) more apps"
        return .warn(
            "no report of \(worst.app) for over \(mostHours) hours, \(last)\(more)",
            do: "run bellwether report --all-apps --output-dir DIR each night (Examples/systemd has a timer)",
            see: .reportMissing)
    }
}

extension Examination {
    /// Only where reports are delivered (`report --deliver`).
    static let deliveries = Examination(name: "deliveries") { _, connection in
        guard let health = try LetterHealth.read(on: &connection) else { return nil }
        let all = "see analytics.report_deliveries"
        if health.late > 0 {
            return .warn(
                "\(health.late) reports have not reached their place; \(health.lateExample ?? "")",
                do: "remove the cause; the next bellwether report --deliver tries again; \(all)", see: .notDelivered)
        }
        if health.givenUp > 0 {
            return .warn(
                "\(health.givenUp) reports were given up in the last week; \(health.givenUpExample ?? "")",
                do: "remove the cause, so that the next ones arrive; \(all)", see: .notDelivered)
        }
        return .ok("every report has reached the places that wanted it")
    }
}

extension Examination {
    /// Only where they ended: whether a service has pages at all, its database does not say.
    static let pages = Examination(name: "pages") { _, connection in
        guard let endings = try PagesEndings.lately(on: &connection) else { return nil }
        let remedy =
            "see \"the web pages ended\" in the log of serve, and run bellwether look by itself to see what it says; "
            + "SIGILL, SIGTRAP, SIGSEGV and SIGABRT are faults of this program, which accepts events all the same: "
            + "report them with the addresses that were open; SIGKILL is mostly lack of memory"
        return endings.isLasting
            ? .fail(endings.sentence, do: remedy, see: .pagesEnd) : .warn(endings.sentence, do: remedy, see: .pagesEnd)
    }
}
