internal import Accounts
internal import Clusters
internal import Console
internal import EventLog
internal import Health
internal import Postgres
internal import Projections
internal import ServiceRuntime

/// Shows the state of the log and the funnels.
struct StatusCommand: DatabaseCommand {
    static let words = ["status"]
    static let summary = "Show the log's head, funnel lag, where the time goes, partitions, sizes, unfinished work"
    static let options: [Option<Self>] = [
        Option(
            "security", \.isOfSecurity,
            help: "Check what readers of the database could do instead, and say how to prevent it"),
        .format(\.format),
    ]

    var database = DatabaseChoice()
    private var isOfSecurity = false
    private var format = OutputFormat.text

    func run() throws -> ExitCode {
        if isOfSecurity { return try security() }
        let log = Log.standardError(least: .warning)
        let access = try DatabaseAccess(database, log: log)
        defer { access.release() }
        return try access.workplaces(log: log).work(log: log) { [format] database in
            var connection = try LogSession.open(
                url: database.url, role: nil, purpose: "command", log: log, statementSeconds: 600)
            let (status, projections, phases, proofs, unfinished, pages) = (
                try LogStatus.read(on: &connection), try ProjectionStatus.all(on: &connection),
                try PhaseReading.lately(within: PhaseReading.secondsShown, on: &connection),
                try Proof.all(on: &connection), try UnfinishedWork.all(on: &connection),
                try PagesEndings.lately(on: &connection)
            )
            let output =
                switch format {
                case .text:
                    (database.name.map { "cell            \($0)\n" } ?? "")
                        + Self.text(status, projections, phases, proofs, unfinished, pages)
                        + (database.name == nil ? "" : "\n")
                case .json: database.line(Self.object(status, projections, phases, proofs, unfinished, pages))
                }
            return Told(output: output)
        }
    }

    /// Prints a line for each finding, and what a superuser must run if it is open.
    private func security() throws -> ExitCode {
        let findings = try DatabaseAccess.withConnection(database) { connection in try Hardening.look(on: &connection)
        }
        let isClosed = findings.allSatisfy(\.open.isEmpty)
        switch format {
        case .text:
            for finding in findings {
                let name = finding.hardening.name
                if finding.open.isEmpty {
                    StandardStream.output.write("closed  \(name)\n")
                } else {
                    let open = String(printable: finding.open.joined(separator: ", "))
                    StandardStream.output.write(
                        "OPEN    \(name): \(finding.hardening.danger) (\(open)). "
                            + "As a superuser, run this in the database:\n\(finding.hardening.mend)\n"
                    )
                }
            }
        case .json:
            let items = findings.map { finding -> JSONObject in
                [
                    "name": finding.hardening.name, "closed": finding.open.isEmpty, "open": finding.open,
                    "mend": finding.hardening.mend,
                ]
            }
            StandardStream.output.write(items.json + "\n")
        }
        return isClosed ? .done : .failed
    }

    private static func text(
        _ status: LogStatus, _ projections: [ProjectionStatus], _ phases: [PhaseReading], _ proofs: [Proof],
        _ unfinished: [UnfinishedWork], _ pages: PagesEndings?
    ) -> String {
        var folds = TextTable(["PROJECTION", "VERSION", "POSITION", "LAG", "SECONDS", "STATUS"])
        for projection in projections {
            folds.add([
                projection.name, "\(projection.version)", "\(projection.position)", "\(projection.lag)",
                "\((projection.lagSeconds * 10).rounded() / 10)",
                projection.stop.map { "stopped at batch \($0.batch): \($0.reason)" } ?? projection.status,
            ])
        }
        var table = TextTable(["PARTITION", "EVENTS (ESTIMATE)", "SIZE"])
        for partition in status.partitions {
            table.add([partition.name, "\(partition.estimatedRows)", ByteSize.text(partition.bytes)])
        }
        return """
            head            batch \(status.head)
            last commit     \(status.lastCommitAt.map { "\($0)" } ?? "never")
            events stored   \(status.events)
            rejected, kept  \(status.rejected)
            apps            \(status.apps)
            database        \(ByteSize.text(status.databaseBytes))

            \(folds.text)
            \(phases.isEmpty ? "" : PhaseReading.table(phases) + "\n")\(proofs.isEmpty ? "" : Self.table(proofs) + "\n")\(table.text)
            """
                + unfinished.map { work in
                    "unfinished: \(work.what). If nobody is working on it, run: \(work.remedy)\n"
                }.joined()
                + (pages.map { String(printable: "pages: \($0.sentence). Run: bellwether doctor") + "\n" } ?? "")
    }

    /// Which days were verified when. The newest are the most telling.
    private static func table(_ proofs: [Proof]) -> String {
        let most = 10
        var table = TextTable(["VERIFIED", "DAYS", "POSITION", "RESULT"])
        for proof in proofs.prefix(most) {
            table.add([
                "\(proof.verifiedAt)", proof.since.map { "from \($0) on" } ?? "all", "\(proof.position)", proof.result,
            ])
        }
        return table.text + (proofs.count > most ? "and \(proofs.count - most) earlier ones\n" : "")
    }

    private static func object(
        _ status: LogStatus, _ projections: [ProjectionStatus], _ phases: [PhaseReading], _ proofs: [Proof],
        _ unfinished: [UnfinishedWork], _ pages: PagesEndings?
    ) -> JSONObject {
        [
            "head": status.head, "last_commit_at": status.lastCommitAt.map { "\($0)" }, "events": status.events,
            "rejected": status.rejected, "apps": status.apps, "database_bytes": status.databaseBytes,
            "projections": projections.map { projection -> JSONObject in
                [
                    "name": projection.name, "version": projection.version, "position": projection.position,
                    "lag": projection.lag, "lag_seconds": projection.lagSeconds, "status": projection.status,
                    "stopped_batch": projection.stop?.batch, "stopped_because": projection.stop?.reason,
                ]
            },
            "phases": phases.map(\.object),
            "proofs": proofs.map { proof -> JSONObject in
                [
                    "since": proof.since.map { "\($0)" }, "verified_at": "\(proof.verifiedAt)",
                    "position": proof.position, "proved": proof.isProved, "differing_cells": proof.differingCells,
                    "of_older_tables": proof.isOfOlderTables,
                ]
            },
            "partitions": status.partitions.map { partition -> JSONObject in
                ["name": partition.name, "estimated_events": partition.estimatedRows, "bytes": partition.bytes]
            },
            "unfinished": unfinished.map { ["what": $0.what, "remedy": $0.remedy] as JSONObject },
            "pages_endings": pages.map { pages -> JSONObject in
                [
                    "within_a_day": pages.count, "within_ten_minutes": pages.recent, "last_at": "\(pages.lastAt)",
                    "node": pages.node, "why": pages.why,
                ]
            },
        ]
    }
}
