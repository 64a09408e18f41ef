internal import Glibc
package import ServiceRuntime

extension EmbeddedServer {
    /// The major version that wrote the files, and the newest one that is installed if that is newer; nil if there is
    /// nothing to upgrade.
    package static func pendingUpgrade(
        dataDirectory: String
    ) throws(EmbeddedPostgresError) -> (from: Int, to: Int)? {
        guard let directory = try ServerDirectory.existing(dataDirectory) else { return nil }
        let (old, new) = try Server(directory: directory, options: ServerOptions(), log: .silent).versions()
        return old.version < new.version ? (old.version, new.version) : nil
    }

    /// Moves a database that nobody uses to the newest installed version, by `pg_upgrade`, and returns where the old
    /// files are now. That works on a copy, so whatever fails leaves the database as it was.
    package static func upgrade(
        dataDirectory: String, options: ServerOptions, log: Log
    ) throws(EmbeddedPostgresError) -> String {
        guard let directory = try ServerDirectory.existing(dataDirectory) else {
            throw .unusableDirectory(path: dataDirectory, reason: "there is no database in it.")
        }
        let server = Server(directory: directory, options: options, log: log)
        let transition = try transitionLock(of: directory, by: .after(seconds: 60))
        defer { transition.unlock() }
        let lease = try LockFile(path: directory.leaseLock)
        guard lease.tryLock(.exclusive), try !server.isRunning() else {
            throw .inUse(directory: directory.path, processes: lease.holders)
        }
        return try server.upgrade()
    }
}

extension Server {
    fileprivate func versions() throws(EmbeddedPostgresError) -> (old: PostgresInstallation, new: PostgresInstallation)
    {
        let deadline = Deadline.after(seconds: 60)
        let old = try PostgresInstallation.matching(dataDirectory: directory.data, deadline: deadline)
        return (old, try PostgresInstallation.all(deadline: deadline).first ?? old)
    }

    fileprivate func isRunning() throws(EmbeddedPostgresError) -> Bool {
        switch try observe(deadline: .after(seconds: 10)) {
        case .absent, .stale: false
        case .present, .unclear: true
        }
    }

    fileprivate func upgrade() throws(EmbeddedPostgresError) -> String {
        let (old, new) = try versions()
        let kept = directory.data + ".\(old.version)"
        guard FileStatus(kept) == nil else {
            throw .upgradeFailed(reason: "\(kept) is left of an earlier upgrade. Remove it first.")
        }
        try clearLeftovers(deadline: .after(seconds: 600))
        try directory.account.script(#"rm -rf "$1""#, [directory.upgraded], deadline: .after(seconds: 600))
        let socket = UnixSocket.home(of: directory)
        try prepareSocketDirectory(socket, deadline: .after(seconds: 10))
        let draft = try makeDraft(with: new, deadline: .never)
        // As much as a server needs that only `pg_upgrade` uses.
        try write(
            [
                ServerSettings.generatedFile: "", "pg_hba.conf": ServerSettings.accessText, "pg_ident.conf": mapText,
            ], into: directory.base + "/" + draft, deadline: .after(seconds: 10))
        let outcome = try directory.account.run(
            [
                new.program("pg_upgrade"), "--old-bindir=\(old.binDirectory)", "--new-bindir=\(new.binDirectory)",
                "--old-datadir=data", "--new-datadir=\(draft)", "--username=\(options.superuser)",
                "--socketdir=\(socket)",
            ], in: directory.base, deadline: .never)
        guard outcome.succeeded else {
            let log = try directory.account.script(
                #"cd "$1" && tail -qn 5 pg_upgrade_output.d/*/log/*.log"#, [directory.base + "/" + draft],
                deadline: .after(seconds: 10))
            try clearLeftovers(deadline: .after(seconds: 600))
            throw .upgradeFailed(
                reason: "pg_upgrade did not succeed, and the database is as it was. It says: "
                    + (outcome.output + log.output).indentedLines)
        }
        try exchange(draft, keepingOldIn: kept)
        return kept
    }

    /// Puts the new files in the place of the old ones. If we are killed between the two renames, `initialize` does the
    /// second.
    private func exchange(_ draft: String, keepingOldIn kept: String) throws(EmbeddedPostgresError) {
        let outcome = try directory.account.script(
            """
            cd "$1" || exit
            for file in \(ServerSettings.mainFile) \(ServerSettings.customFile) postgresql.auto.conf; do
                if [ -e "data/$file" ]; then cp -p "data/$file" "$2/" || exit; fi
            done
            rm -f delete_old_cluster.sh
            mv -T "$2" "$4" && sync . && mv -T data "$3" && mv -T "$4" data && sync .
            """, [directory.base, draft, kept, directory.upgraded], deadline: .after(seconds: 600))
        guard outcome.succeeded else { throw .upgradeFailed(reason: outcome.output) }
    }
}
