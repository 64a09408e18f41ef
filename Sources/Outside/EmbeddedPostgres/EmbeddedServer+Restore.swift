internal import Glibc
package import ServiceRuntime

/// What to restore, and up to where.
package struct Recovery: Sendable {
    /// A base backup: a copy of PostgreSQL's data directory with its manifest.
    package var backup: String
    /// A directory with the archived write-ahead log; without one, what the backup has is all.
    package var archive: String?
    /// The last moment to restore, as PostgreSQL reads times; nil for everything in the archive.
    package var until: String?

    package init(backup: String, archive: String?, until: String?) {
        (self.backup, self.archive, self.until) = (backup, archive, until)
    }
}

extension EmbeddedServer {
    /// Makes a new database of a base backup, checks the copy against the backup's manifest, replays the archived log,
    /// and uses the database. It takes as long as that takes.
    ///
    /// The server starts with our settings alone. Those of the backup may belong to another machine, make commits wait
    /// for a standby, or archive over the log of the server that the backup came from; they are put beside the data.
    ///
    /// The archive can end too early without an error, because a file in it is missing or damaged: then that file is
    /// `lacking`.
    package static func restore(
        _ recovery: Recovery, dataDirectory: String, options: ServerOptions, log: Log
    ) throws(EmbeddedPostgresError) -> (server: EmbeddedServer, lacking: String?) {
        guard try isNew(dataDirectory) else {
            throw .unusableDirectory(
                path: dataDirectory, reason: "it is not empty, and a backup is restored into a new directory.")
        }
        let directory = try ServerDirectory.prepare(dataDirectory, deadline: .after(seconds: 60))
        let server = Server(directory: directory, options: options, log: log)
        let lease = try server.reserve()
        let restore = Restore(server: server, recovery: recovery)
        try restore.copy()
        try restore.configure()
        let socket = try restore.replay()
        let lacking = recovery.until == nil ? try restore.lackingFile() : nil
        try restore.finish()
        return (EmbeddedServer(server: server, lease: lease, socket: socket), lacking)
    }

    private static func isNew(_ path: String) throws(EmbeddedPostgresError) -> Bool {
        let (real, missing) = try FilePath.resolve(path)
        return !missing.isEmpty || FilePath.isEmptyDirectory(real)
    }
}

extension Server {
    /// Keeps everybody else away from a new directory, whatever becomes of us.
    fileprivate func reserve() throws(EmbeddedPostgresError) -> LockFile {
        let transition = try EmbeddedServer.transitionLock(of: directory, by: .after(seconds: 60))
        defer { transition.unlock() }
        let lease = try LockFile(path: directory.leaseLock)
        guard lease.tryLock(.exclusive), lease.tryLock(.shared), FileStatus(directory.data) == nil else {
            throw .inUse(directory: directory.path, processes: lease.holders)
        }
        try write(["restoring": ""], into: directory.base, deadline: .after(seconds: 10))
        return lease
    }
}

/// One restore, step by step.
private struct Restore {
    let server: Server
    let recovery: Recovery

    private var directory: ServerDirectory { server.directory }
    private var account: ServerAccount { server.directory.account }

    /// Copies the backup and checks the copy: the sums of all files, and that the log is complete which it needs.
    func copy() throws(EmbeddedPostgresError) {
        if geteuid() == 0, let weakness = TrustedPath.weakness(of: recovery.backup, trusting: [0, account.user]) {
            throw .restoreFailed(
                reason:
                    "root does not restore \(recovery.backup), because \(weakness): what is in a database can run as "
                    + "another user. Copy it to a directory of your own.")
        }
        if let archive = recovery.archive,
            let obstacle = try account.firstUnreachable(of: FilePath.prefixes(of: archive))
        {
            throw .unreachable(path: obstacle, user: account.name)
        }
        let installation = try PostgresInstallation.matching(
            dataDirectory: recovery.backup, deadline: .after(seconds: 60))
        try account.script(#"mkdir "$1""#, [directory.data], deadline: .after(seconds: 10))
        let copied = try account.copyContents(of: recovery.backup, to: directory.data, deadline: .never)
        let checked = try account.run(
            [installation.program("pg_verifybackup"), "--quiet", "data"], in: directory.base, deadline: .never)
        guard copied.succeeded, checked.succeeded else {
            throw .restoreFailed(
                reason: "the backup in \(recovery.backup) is damaged or could not be copied: "
                    + (copied.output + checked.output).indentedLines)
        }
    }

    /// Puts the settings of the backup aside, and writes those of the recovery.
    func configure() throws(EmbeddedPostgresError) {
        let moved = try account.script(
            """
            cd "$1" && mkdir "$2" || exit
            for file in postgresql.conf postgresql.auto.conf \(ServerSettings.generatedFile) \\
                \(ServerSettings.customFile) pg_hba.conf pg_ident.conf; do
                if [ -e "$file" ]; then mv "$file" "$2" || exit; fi
            done
            rm -f standby.signal postmaster.* backup_manifest
            """, [directory.data, directory.earlierSettings], deadline: .after(seconds: 60))
        guard moved.succeeded else { throw .restoreFailed(reason: moved.output) }
        // With a recovery the server begins a new timeline, even if there is no archive: its log cannot be mistaken for
        // that of the server which the backup came from.
        var settings = """
            hot_standby = off
            recovery_target_action = promote
            restore_command = \(ServerSettings.quoted(restoreCommand))

            """
        if let until = recovery.until { settings += "recovery_target_time = \(ServerSettings.quoted(until))\n" }
        try server.write(
            [
                ServerSettings.mainFile: ServerSettings.mainText,
                ServerSettings.customFile: ServerSettings.customText,
                "postgresql.auto.conf": settings, "recovery.signal": "",
            ], into: directory.data, deadline: .after(seconds: 60))
    }

    /// Copies one file out of the archive. The newest file may still be a part (`pg_receivewal`).
    private var restoreCommand: String {
        guard let archive = recovery.archive else { return "false" }
        let place = "'" + archive.replacing("'", with: #"'\''"#).replacing("%", with: "%%") + "'"
        return
            #"for file in \#(place)/%f \#(place)/%f.partial; do [ ! -e "$file" ] || exec cp "$file" "%p"; done; exit 1"#
    }

    /// Starts the server and waits until it has replayed everything and takes connections.
    func replay() throws(EmbeddedPostgresError) -> UnixSocket {
        do throws(EmbeddedPostgresError) {
            _ = try server.ensureRunning(deadline: .never)
            while true {
                switch try server.observe(deadline: .after(seconds: 10)) {
                case .present(let postmaster) where postmaster.phase == .ready && !postmaster.isReplaying:
                    return UnixSocket(directory: postmaster.socketDirectory, port: postmaster.port)
                case .present, .unclear: _ = poll(nil, 0, 100)
                case .absent, .stale:
                    throw .startFailed(directory: directory.path, output: try server.endOfLogs())
                }
            }
        } catch {
            guard case .startFailed(_, let output) = error else { throw error }
            throw .restoreFailed(reason: explanation(of: output))
        }
    }

    private func explanation(of output: String) -> String {
        let reason =
            if output.contains("before configured recovery target") {
                "the archived log ends before the moment that was asked for. "
                    + "Ask for an earlier one, or for all of the archive"
            } else if output.contains("before consistent recovery point") {
                "the moment that was asked for is before the end of the backup. "
                    + "Ask for a later one, or take an older backup"
            } else {
                "the backup could not be restored"
            }
        return "\(reason). The log of the server ends with: \(output.indentedLines)"
    }

    /// The first file that the archive should have and has not, or that is damaged; nil if the log was replayed to its
    /// end.
    func lackingFile() throws(EmbeddedPostgresError) -> String? {
        guard let archive = recovery.archive else { return nil }
        // The end of the old timeline, as the history of the new one has it, and the size of a file of the log.
        let said = try account.script(
            """
            cd "$1/pg_wal" || exit
            tail -n 1 "$(ls *.history | tail -n 1)"
            stat -c %s "$(ls | grep -E '^[0-9A-F]{24}$' | tail -n 1)"
            """, [directory.data], deadline: .after(seconds: 10)
        ).output.split(separator: "\n")
        guard said.count == 2, let size = UInt64(said[1]), let end = LogFile(ofHistory: said[0], size: size) else {
            return nil
        }
        let names = (FilePath.names(in: archive) ?? []).map { $0.split(separator: ".").first.map(String.init) ?? "" }
        let present = Set(names.compactMap { LogFile(name: $0, size: size) }.filter { $0.timeline == end.timeline })
        guard present.contains(where: { $0.number > end.number }) else { return nil }
        var file = end
        while present.contains(file) { file.number += 1 }
        // If there is a later one behind the gap, the gap is why it ended; else the file in which it ended is damaged.
        return (present.contains { $0.number > file.number } ? file : end).name(size: size)
    }

    /// From now on it is a database like any other.
    func finish() throws(EmbeddedPostgresError) {
        try server.write(["postgresql.auto.conf": ""], into: directory.data, deadline: .after(seconds: 10))
        try account.script(#"rm -f "$1""#, [directory.restoreMarker], deadline: .after(seconds: 10))
    }
}

/// A file of the write-ahead log, by its place in it.
private struct LogFile: Hashable {
    let timeline: UInt32
    var number: UInt64

    /// The file in which a timeline ended: `1	0/5000148	no recovery target specified`.
    init?(ofHistory line: Substring, size: UInt64) {
        let words = line.split { $0 == "\t" || $0 == "/" || $0 == " " }
        guard words.count >= 3, let timeline = UInt32(words[0]), let high = UInt64(words[1], radix: 16),
            let low = UInt64(words[2], radix: 16), size > 0
        else { return nil }
        (self.timeline, number) = (timeline, (high << 32 | low) / size)
    }

    /// `000000010000000000000005`: timeline, upper half of the position, number within that.
    init?(name: String, size: UInt64) {
        let digits = Array(name)
        guard digits.count == 24, size > 0, let timeline = UInt32(String(digits[..<8]), radix: 16),
            let high = UInt64(String(digits[8..<16]), radix: 16), let low = UInt64(String(digits[16...]), radix: 16)
        else { return nil }
        (self.timeline, number) = (timeline, high * ((1 << 32) / size) + low)
    }

    func name(size: UInt64) -> String {
        let perHalf = (1 << 32) / size
        return [UInt64(timeline), number / perHalf, number % perHalf].map { part in
            let digits = String(part, radix: 16, uppercase: true)
            return String(repeating: "0", count: 8 - digits.count) + digits
        }.joined()
    }
}
