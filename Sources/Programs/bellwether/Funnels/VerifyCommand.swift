internal import Accounts
internal import Clusters
internal import Console
internal import Postgres
internal import Projections
internal import ServiceRuntime
internal import Values

/// Counts the funnels again from raw events and compares every cell.
struct VerifyCommand: DatabaseCommand {
    static let words = ["verify"]
    static let summary = "Recount every number from the log with independent SQL and compare; exit 1 if any differs"
    static let options: [Option<Self>] = [
        Option(
            "since", "DAY", \.since, .firstDay,
            help:
                "Check only the days from then on, in each app's time zone: YYYY-MM-DD, today, yesterday or 30d (days "
                + "ago)"
        ),
        Option("sample", \.takesSample, help: "Check only one of the log's shards, chosen at random"),
        Option("lanes", "N", \.lanes, .lanes, help: "Shards to check at once (default)"),
        .format(\.format),
    ]

    var database = DatabaseChoice()
    private var since: FirstDay?
    private var takesSample = false
    private var lanes = 2
    private var format = OutputFormat.text

    func run() throws -> ExitCode {
        let log = Log.standardError(least: .warning)
        let access = try DatabaseAccess(database, log: log)
        defer { access.release() }
        let databases = try access.workplaces(log: log)
        let isAlone = databases.count == 1
        return try databases.work(log: log) { [format, lanes, since, takesSample] database in
            // A shard of a big log takes long, and nothing waits for it.
            let open = { @Sendable in
                try LogSession.open(url: database.url, role: nil, purpose: "verify", log: log, statementSeconds: 0)
            }
            let sample = takesSample ? try Self.sample(of: database, open) : nil
            let first = try since.map { try $0.day(open) }
            let report = try Verifier(since: first).verify(
                shards: sample.map { [$0] }, lanes: lanes, opening: open, progress: { if isAlone { Self.show($0) } })
            if isAlone { Self.show(nil) }
            let output =
                switch format {
                case .text: database.labelled(report.description)
                case .json: database.line(report.object)
                }
            return Told(code: report.isProved ? .done : .failed, output: output)
        }
    }

    /// A random shard, one of its own if it is the cell of a cluster.
    private static func sample(of database: CellDatabase, _ open: () throws -> Connection) throws -> Int16? {
        var connection = try open()
        let all = try Verifier.shards(on: &connection)
        let sample = all.filter { database.shards.isEmpty || database.shards.contains($0) }.randomElement()
        if let sample { StandardStream.error.write(database.labelled("Checking only shard \(sample).\n")) }
        return sample
    }

    /// One line that is redrawn, only if a person watches.
    private static func show(_ step: Verifier.Step?) {
        guard StandardStream.error.isTerminal else { return }
        let line = step.map { "shard \($0.place) of \($0.count)" } ?? ""
        StandardStream.error.write("\r\u{1B}[K\(line)")
    }
}

/// From which day on numbers are checked.
private enum FirstDay {
    case day(CivilDate)
    case daysAgo(Int)

    /// So many days ago is counted from the earliest date that an app has now, so that no app has fewer days.
    func day(_ open: () throws -> Connection) throws -> CivilDate {
        switch self {
        case .day(let day): return day
        case .daysAgo(let days):
            var connection = try open()
            let today: CivilDate = try connection.query(
                """
                SELECT coalesce(min((now() AT TIME ZONE time_zone)::date), (now() AT TIME ZONE 'UTC')::date)
                FROM log.app
                """)[0].get(0)
            return today.advanced(by: -days)
        }
    }
}

extension OptionValue where Value == FirstDay {
    fileprivate static var firstDay: OptionValue {
        OptionValue("YYYY-MM-DD, today, yesterday or a number of days such as 30d") { text in
            switch text {
            case "today": return .daysAgo(0)
            case "yesterday": return .daysAgo(1)
            default:
                if let match = text.wholeMatch(of: /([0-9]{1,5})d/) { return Int(match.1).map(FirstDay.daysAgo) }
                guard let match = text.wholeMatch(of: /([0-9]{4})-([0-9]{2})-([0-9]{2})/), let year = Int(match.1),
                    let month = Int(match.2), let day = Int(match.3), year > 0
                else { return nil }
                return CivilDate(year: year, month: month, day: day).map(FirstDay.day)
            }
        }
    }
}

extension VerificationReport {
    /// For programs: one object in one line.
    fileprivate var object: JSONObject {
        [
            "proved": isProved, "since": since.map { "\($0)" }, "events": events, "deliveries": deliveries,
            "cells": cells,
            "shards": shards.map { ["shard": $0.shard, "position": $0.position] as JSONObject },
            "differing_cells": JSONObject(differing.map { ($0.table, $0.cells) }),
            "differences": differences.map(\.object), "differing_batches": gapCount,
            "batches": gaps.map { gap -> JSONObject in
                ["batch": gap.batch, "shard": gap.shard, "expected": gap.expected, "found": gap.found]
            },
            "not_compared": omissions.map { ["projection": $0.projector, "reason": $0.reason] as JSONObject },
            "words_changed": isUnderOlderWords,
            "time_zone_changes": moves.map { ["app": $0.app, "from": $0.from, "to": $0.to] as JSONObject },
        ]
    }
}

extension Difference {
    fileprivate var object: JSONObject {
        [
            "table": table, "shard": shard, "key": JSONObject(key.map { ($0.column, $0.text) }),
            "columns": JSONObject(
                values.map { ($0.column, ["stored": $0.stored, "recounted": $0.recounted] as JSONObject) }),
            "deliveries": deliveries.map { delivery -> JSONObject in
                [
                    "install_id": "\(delivery.install)", "notification_key": delivery.notificationKey,
                    "differs": delivery.differs,
                ]
            },
        ]
    }
}
