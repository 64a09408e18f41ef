internal import Accounts
internal import Console
internal import EmbeddedPostgres
internal import Glibc
internal import Health
internal import Postgres
internal import ServiceRuntime
internal import Values

/// Copies the whole database while it works, and checks the copy.
struct BackupCommand: DatabaseCommand {
    static let words = ["backup"]
    static let operands: [Operand<Self>] = [Operand("DIR", \.directory)]
    static let summary = "Copy the whole database into a new directory while it works, and check the copy"

    var database = DatabaseChoice()
    private var directory = ""

    func run() throws -> ExitCode {
        let isEmbedded = database.url == nil
        guard try !isEmbedded || EmbeddedServer.exists(dataDirectory: database.directory) else {
            throw Failure("there is no embedded database in '\(String(printable: database.directory))' to back up")
        }
        let log = Log.standardError(least: .warning)
        let access = try DatabaseAccess(database, log: log, fit: .anyVersion)
        defer { access.release() }
        var connection = try LogSession.open(url: access.url, role: nil, purpose: "backup", log: log)
        connection.deadline = .after(seconds: 60)
        // On the embedded database only the superuser may copy everything; elsewhere it is who was given that right.
        if !isEmbedded { try requireRight(on: &connection) }
        try refuseOtherPlaces(on: &connection)
        let record = try record(isEmbedded: isEmbedded, on: &connection)
        let programs = try PostgresInstallation.of(version: record.postgres, deadline: .after(seconds: 60))

        let output = try OutputDirectory(directory, isMade: true)
        guard let path = unsafe realpath(directory, nil) else {
            throw Failure(
                "'\(String(printable: directory))' cannot be found: \(unsafe String(cString: strerror(errno)))")
        }
        // SAFETY: realpath allocated it; it is copied, then freed.
        defer { unsafe free(path) }
        let place = unsafe String(cString: path)
        guard DirectorySize.isEmpty(place) else {
            throw Failure(
                "'\(String(printable: place))' is not empty: give each backup a directory of its own. "
                    + "To replace what an interrupted backup left, remove that first"
            )
        }
        let copy = "\(place)/\(BackupRecord.copy)"
        try take(
            copy, with: programs, from: access.server.map { $0.connectionURL(database: record.database) } ?? access.url
        )
        try output.write(record.text, to: BackupRecord.file)
        note(record, in: access.url, log: log)
        StandardStream.output.write(
            "Backed up into \(String(printable: place)): everything up to batch \(record.position), "
                + "\(ByteSize.text(DirectorySize.bytes(in: copy))), checked.\n")
        return .done
    }

    /// Lets `doctor` know how old the last backup is. A standby cannot note it, nor can a login that owns nothing here;
    /// the backup is good all the same.
    private func note(_ record: BackupRecord, in url: String, log: Log) {
        do throws(PostgresError) {
            // The session from before may have been cut off meanwhile.
            var connection = try LogSession.open(url: url, role: nil, purpose: "backup", log: log)
            connection.deadline = .after(seconds: 60)
            try connection.query(
                "INSERT INTO bellwether.backup (position) VALUES (\(record.position)) ON CONFLICT DO NOTHING")
        } catch {
            StandardStream.error.write(
                "The backup could not be noted in the database, where bellwether doctor looks for its age: "
                    + "\(String(printable: "\(error)"))\n"
            )
        }
    }

    /// A copy of a server's files contains all of its databases.
    private func requireRight(on connection: inout Connection) throws {
        let row = try connection.query(
            "SELECT session_user::text, rolsuper OR rolreplication FROM pg_roles WHERE rolname = session_user")[0]
        let user: String = try row.get(0)
        guard try row.get(1) else {
            throw Failure(
                "\(String(printable: user)) may not copy the server's files. As a superuser: ALTER ROLE "
                    + "\(Statement.quoted(user)) REPLICATION; and let it in by a line of pg_hba.conf for the database "
                    + "'replication'")
        }
    }

    /// PostgreSQL restores a tablespace to the path where it was.
    private func refuseOtherPlaces(on connection: inout Connection) throws {
        let rows = try connection.query(
            "SELECT spcname::text FROM pg_tablespace WHERE spcname NOT IN ('pg_default', 'pg_global')")
        guard let row = rows.first else { return }
        let name: String = try row.get(0)
        throw Failure(
            "the tablespace \(String(printable: name)) is outside of the server's data directory: "
                + "use pg_basebackup itself, with --tablespace-mapping"
        )
    }

    private func record(isEmbedded: Bool, on connection: inout Connection) throws -> BackupRecord {
        let row = try connection.query(
            """
            SELECT current_database()::text, current_user::text, (SELECT coalesce(max(number), 0) FROM log.batch),
                clock_timestamp(), current_setting('server_version_num')::integer / 10000
            """)[0]
        let version: Int32 = try row.get(4)
        let record = BackupRecord(
            database: try row.get(0), owner: try row.get(1), isEmbedded: isEmbedded, position: try row.get(2),
            begun: try row.get(3), postgres: Int(version))
        // The record has a line for each.
        for name in [record.database, record.owner] where name.contains(where: \.isNewline) {
            throw Failure("'\(String(printable: name))' has a line break in its name: use pg_basebackup itself")
        }
        return record
    }

    private func take(_ copy: String, with programs: PostgresInstallation, from url: String) throws {
        let progress = StandardStream.error.isTerminal ? ["--progress"] : []
        let taken = try Child.run(
            [
                programs.program("pg_basebackup"), "--pgdata=\(copy)", "--checkpoint=fast", "--wal-method=stream",
                "--no-password", "--label=bellwether backup",
            ] + progress, environment: ConnectionString.environment(of: url))
        guard taken == 0 else { throw Failure("the backup was not made: pg_basebackup ended with \(taken)") }
        let checked = try Child.run([programs.program("pg_verifybackup"), "--quiet", copy], environment: [])
        guard checked == 0 else {
            throw Failure(
                "the backup is damaged: pg_verifybackup ended with \(checked). Check the disk, and take another")
        }
    }
}
