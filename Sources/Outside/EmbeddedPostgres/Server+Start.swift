internal import Glibc
internal import ServiceRuntime

extension Server {
    /// Creates the database in a directory with another name, and renames it when it is complete. So the remains of a
    /// killed attempt, even while its `initdb` still writes, are never mistaken for a database.
    func initialize(deadline: Deadline) throws(EmbeddedPostgresError) {
        guard FileStatus(directory.upgraded) == nil else { return try place(directory.upgraded, deadline: deadline) }
        let installation = try PostgresInstallation.matching(dataDirectory: directory.data, deadline: deadline)
        log.info("creating the database", ["directory": directory.path, "version": String(installation.version)])
        try clearLeftovers(deadline: deadline)
        try place(directory.base + "/" + makeDraft(with: installation, deadline: deadline), deadline: deadline)
    }

    /// Makes an empty database and returns its name in our directory.
    func makeDraft(
        with installation: PostgresInstallation, deadline: Deadline
    ) throws(EmbeddedPostgresError) -> String {
        let name = "data.new." + String(UInt64.random(in: .min ... .max), radix: 16)
        let draft = directory.base + "/" + name
        // Locale C sorts by bytes: the same on every machine, and after every update of the system.
        var command = [
            installation.program("initdb"), "-D", name, "--username", options.superuser, "--encoding=UTF8",
            "--locale=C", "--auth=peer", "--data-checksums", "--no-instructions",
        ]
        if options.settings["fsync"] == "off" { command.append("--no-sync") }
        let outcome = try directory.account.run(command, in: directory.base, deadline: deadline)
        guard outcome.succeeded else {
            try? clearLeftovers(deadline: .after(seconds: 10))
            if outcome.timedOut { throw .timedOut(waitingFor: "initdb to create the database") }
            throw .initializationFailed(output: outcome.output)
        }
        try write(
            [
                ServerSettings.mainFile: ServerSettings.mainText,
                ServerSettings.customFile: ServerSettings.customText,
            ], into: draft, deadline: deadline)
        return name
    }

    /// Makes a complete directory the one in use.
    private func place(_ draft: String, deadline: Deadline) throws(EmbeddedPostgresError) {
        let renaming = try directory.account.script(
            #"sync "$1/\#(ServerSettings.mainFile)" "$1" && mv -T "$1" "$2" && sync "$3""#,
            [draft, directory.data, directory.base], deadline: deadline)
        guard renaming.succeeded else { throw .initializationFailed(output: renaming.output) }
    }

    /// Starts a server where none runs. It may return without a server if the caller should check the state again.
    func start(deadline: Deadline) throws(EmbeddedPostgresError) {
        let installation = try PostgresInstallation.matching(dataDirectory: directory.data, deadline: deadline)
        let socket = UnixSocket(directory: UnixSocket.home(of: directory), port: 5432)
        // PostgreSQL's own guard against a second server checks process ids, which mean nothing across containers.
        guard !socket.answers else { throw .hiddenServer(directory: directory.path) }
        let settings = ServerSettings(
            size: .measured(at: directory.base), socketDirectory: socket.directory,
            hasLZ4: try compressesWithLZ4(installation, deadline: deadline), version: installation.version,
            overrides: options.settings)
        try write(
            [
                ServerSettings.generatedFile: settings.generatedText,
                "pg_hba.conf": ServerSettings.accessText,
                "pg_ident.conf": mapText,
            ], into: directory.data, deadline: deadline)
        // Only now: where nothing can be written, the files above say so best.
        try prepareSocketDirectory(socket.directory, deadline: deadline)
        try clearLeftovers(deadline: deadline)

        log.debug("starting the database", ["directory": directory.path, "version": String(installation.version)])
        let patience = max(1, Int(saturating: min(deadline.secondsLeft, 86_400)))
        let outcome = try control(
            installation, ["start", "-w", "-t", String(patience), "-l", "log/start.log"],
            deadline: deadline == .never ? .never : .after(seconds: deadline.secondsLeft + 2))
        if outcome.succeeded {
            log.info("the database is running", ["directory": directory.path, "version": String(installation.version)])
            return
        }
        // Another process's server won, or ours is still replaying its log: the next check waits for it.
        if case .present = try observe(deadline: .after(seconds: 10)) { return }
        let said = try endOfLogs()
        // The children of a killed server keep its memory until they notice its death.
        guard said.contains("still in use") || said.contains("lock file") else {
            throw .startFailed(directory: directory.path, output: said.isEmpty ? outcome.output : said)
        }
        try endOrphans(of: installation, deadline: deadline)
        guard !deadline.hasPassed else { throw .startFailed(directory: directory.path, output: said) }
        Pause.brief(before: deadline)
    }

    /// Removes what a dead server or `initdb` left, including the mark to keep the server running.
    func clearLeftovers(deadline: Deadline) throws(EmbeddedPostgresError) {
        try directory.account.script(
            """
            cd "$1" || exit
            rm -rf data.new.*
            rm -f keep data/postmaster.pid socket/.s.PGSQL.*
            mkdir -p socket log
            : >log/start.log
            """, [directory.base], deadline: deadline)
    }

    /// Keeps the newest ten files of the server's log. PostgreSQL begins a new file each 10 MB and removes none. To
    /// look costs next to nothing: a program is started, as the owner of the files, only if some are too many. Returns
    /// whether that was so.
    @discardableResult
    func removeOldLogs(deadline: Deadline) throws(EmbeddedPostgresError) -> Bool {
        let files = FilePath.names(in: directory.base + "/log") ?? []
        guard files.count(where: { $0.hasPrefix("server-") && $0.hasSuffix(".log") }) > 10 else { return false }
        try directory.account.script(
            """
            cd "$1/log" || exit
            ls -1 | grep '^server-.*\\.log$' | sort | head -n -10 | while read -r file; do rm -f "$file"; done
            """, [directory.base], deadline: deadline)
        return true
    }

    func prepareSocketDirectory(_ path: String, deadline: Deadline) throws(EmbeddedPostgresError) {
        // We made it, or it was ours already; in a directory like /tmp, anyone could have created it first.
        let outcome = try directory.account.script(
            """
            mkdir "$1" 2>/dev/null
            [ ! -L "$1" ] && [ -d "$1" ] && [ -O "$1" ] && chmod 700 "$1" && rm -f "$1"/.s.PGSQL.*
            """, [path], deadline: deadline)
        guard outcome.succeeded else {
            throw .unusableDirectory(
                path: directory.path,
                reason: "its socket must go to \(path), which is not a private directory of user "
                    + "\(directory.account.name). Remove that, or choose a data directory with a shorter path.")
        }
    }

    private func compressesWithLZ4(
        _ installation: PostgresInstallation, deadline: Deadline
    ) throws(EmbeddedPostgresError) -> Bool {
        // Use the files as they are. If they are broken, the start will report it.
        try directory.account.run(
            [
                installation.program("postgres"), "-D", "data", "-c", "wal_compression=lz4",
                "-C", "wal_compression",
            ], in: directory.base, deadline: deadline
        ).output.hasSuffix("lz4\n")
    }

    /// What the server said last.
    func endOfLogs() throws(EmbeddedPostgresError) -> String {
        try directory.account.script(
            """
            cd "$1/log" || exit
            tail -n 12 start.log
            newest=$(find . -name 'server-*.log' -newer "$1/data/\(ServerSettings.generatedFile)" | sort | tail -n 1)
            if [ "$newest" ]; then tail -n 12 "$newest"; fi
            """, [directory.base], deadline: .after(seconds: 10)
        ).output
    }

    /// Tells the children of a dead server to exit, as the server would have done.
    private func endOrphans(
        of installation: PostgresInstallation, deadline: Deadline
    ) throws(EmbeddedPostgresError) {
        try directory.account.script(
            """
            for process in /proc/[0-9]*; do
                if [ "$process/cwd" -ef "$1" ] && [ "$process/exe" -ef "$2" ]; then kill -QUIT "${process#/proc/}"; fi
            done
            """, [directory.data, installation.program("postgres")], deadline: deadline)
    }
}
