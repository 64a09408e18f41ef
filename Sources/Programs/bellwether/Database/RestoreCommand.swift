internal import Accounts
internal import Console
internal import EmbeddedPostgres
internal import EventLog
internal import Glibc
internal import Health
internal import Postgres
internal import Projections
internal import ServiceRuntime
internal import Values

/// Makes a database in a new data directory from a backup, and proves it.
struct RestoreCommand: Command {
    static let words = ["restore"]
    static let operands: [Operand<Self>] = [Operand("DIR", \.backup)]
    static let summary = "Make a database in a new data directory from a backup, up to any moment"
    static let options: [Option<Self>] = [
        DatabaseChoice.dataOption.within(\Self.target),
        Option(
            "wal", "DIR", \.archive, .text,
            help: "Archived write-ahead log: also restore what was committed after the backup"),
        Option(
            "until", "TIME", \.until, .time,
            help: "Restore up to this time, such as 2026-11-21T18:05:17Z; needs --wal"),
        Option("verify", \.verifies, help: "Then recount every number from the log, as bellwether verify does"),
    ]

    private var backup = ""
    private var target = DatabaseChoice()
    private var archive: String?
    private var until: Timestamp?
    private var verifies = false

    private var data: String { target.directory }

    func check() throws(UsageError) {
        guard until == nil || archive != nil else {
            throw UsageError("--until needs --wal: a backup alone holds one moment")
        }
    }

    func run() throws -> ExitCode {
        let record = try BackupRecord(ofBackupIn: backup)
        // PostgreSQL would give what the backup has, and not say that it is later than what was asked for.
        if let until, until < record.begun {
            throw Failure("this backup was begun at \(record.begun), after \(until): restore an older one")
        }
        let recovery = Recovery(
            backup: try Self.real(backup) + "/" + BackupRecord.copy, archive: try archive.map(Self.real),
            // A server reads this setting before it knows what Z means.
            until: until.map { "\($0)".replacing("Z", with: "+00") })
        let log = Log.standardError(least: .warning)
        let interruption = Interruption { [data] in
            _ = try? EmbeddedServer.stop(dataDirectory: data, force: true, deadline: .after(seconds: 30))
        }
        defer { withExtendedLifetime(interruption) {} }
        let options =
            record.isEmbedded ? DatabaseAccess.serverOptions : ServerOptions(superuser: record.owner)
        let (server, lacking) = try restore(recovery, options, log)
        defer { server.release() }
        let url = server.connectionURL(database: record.database, user: record.owner)
        if record.isEmbedded {
            // Bring it to this version, as any command would do.
            try DatabaseAccess(embeddedIn: data, log: log, interruptible: false).release()
        } else {
            try DatabaseFit.exact.check(url, log: log)
        }
        try tell(record, server, url, log)
        var isWhole = true
        if let lacking {
            isWhole = false
            StandardStream.error.write(
                "The archive goes on, but \(lacking) is missing or damaged: nothing after it was restored. "
                    + "Find that file, and restore again.\n"
            )
        }
        if verifies {
            // What came just before the moment may not have been counted by then.
            let (head, stopped) = try ProjectionControl(url: url, log: .silent).catchUp()
            StandardStream.output.write(
                stopped.isEmpty ? "The funnels are at batch \(head) or later.\n" : stopped.sentences)
            isWhole = isWhole && stopped.isEmpty
            let report = try Verifier().verify(lanes: 2) { [url] in
                try LogSession.open(url: url, role: nil, purpose: "verify", log: log, statementSeconds: 0)
            }
            StandardStream.output.write(report.description)
            isWhole = isWhole && report.isProved
        }
        return isWhole ? .done : .failed
    }

    private func restore(
        _ recovery: Recovery, _ options: ServerOptions, _ log: Log
    ) throws -> (server: EmbeddedServer, lacking: String?) {
        do { return try EmbeddedServer.restore(recovery, dataDirectory: data, options: options, log: log) } catch {
            switch error {
            // The database is not away: what was asked for cannot be done.
            case .restoreFailed, .unusableDirectory, .inUse: throw Failure("\(error)")
            default: throw error
            }
        }
    }

    /// Says what there is now, and what to know about it.
    private func tell(_ record: BackupRecord, _ server: EmbeddedServer, _ url: String, _ log: Log) throws {
        var connection = try LogSession.open(url: url, role: nil, purpose: "restore", log: log, statementSeconds: 600)
        let status = try LogStatus.read(on: &connection)
        StandardStream.output.write(
            """
            Restored into \(String(printable: server.dataDirectory)): the log up to batch \(status.head)\
            \(status.lastCommitAt.map { ", committed at \($0)" } ?? "").
            The backup was begun at batch \(record.position); \(max(0, status.head - record.position)) batches were committed after that.
            What was acknowledged after the last batch is not in this copy, and no phone sends it again.

            """)
        guard !record.isEmbedded else { return }
        StandardStream.output.write(
            "It is the database \(String(printable: record.database)) of \(String(printable: record.owner)). To serve "
                + "it, start your own PostgreSQL on a copy of \(String(printable: server.dataDirectory))/pg/data, with "
                + "the settings in \(String(printable: server.dataDirectory))/pg/settings-of-backup.\n"
        )
    }

    /// The path without links: other programs run in other directories.
    private static func real(_ path: String) throws -> String {
        guard let real = unsafe realpath(path, nil) else {
            throw Failure("'\(String(printable: path))' cannot be found: \(unsafe String(cString: strerror(errno)))")
        }
        // SAFETY: realpath allocated it; it is copied, then freed.
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }
}
