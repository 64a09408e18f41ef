internal import Glibc
internal import ServiceRuntime

/// The operating-system user that runs the server and owns its files.
///
/// That user makes all changes to those files, with short scripts, even if we are root: root would follow any link in
/// another user's directory.
struct ServerAccount: Hashable, Sendable {
    let name: String
    let user: uid_t
    let group: gid_t

    var isCurrent: Bool { user == geteuid() }

    /// The user this process runs as.
    static func current() throws(EmbeddedPostgresError) -> ServerAccount {
        if let account = named(by: .id(geteuid())) { return account }
        throw .noServerUser(
            reason: "user id \(geteuid()) has no name, and PostgreSQL recognises its users by name. "
                + "Add an entry for it to /etc/passwd, or run as a user that has one.")
    }

    static func owner(_ user: uid_t, of path: String) throws(EmbeddedPostgresError) -> ServerAccount {
        if let account = named(by: .id(user)) { return account }
        throw .noServerUser(
            reason: "\(path) belongs to user id \(user), which has no name here. PostgreSQL runs as the owner of its "
                + "files and needs a name: give the directory to a user of this machine.")
    }

    /// The user that root runs servers as by default.
    static func forRoot() throws(EmbeddedPostgresError) -> ServerAccount {
        for name in ["postgres", "nobody"] {
            if let account = named(by: .name(name)), account.user != 0 { return account }
        }
        throw .noServerUser(
            reason: "PostgreSQL does not run as root, and there is neither a user postgres nor a user nobody to run "
                + "it as. Add one (useradd --system postgres), or run this as an ordinary user.")
    }

    /// Runs a program as this user.
    func run(_ arguments: [String], deadline: Deadline) throws(EmbeddedPostgresError) -> Subprocess {
        try Subprocess.run(try switching() + arguments, deadline: deadline)
    }

    /// Runs shell text as this user; its arguments are `$1` and so on.
    @discardableResult
    func script(
        _ text: String, _ arguments: [String], deadline: Deadline
    ) throws(EmbeddedPostgresError) -> Subprocess {
        try run(["/bin/sh", "-c", "umask 077\n" + text, "sh"] + arguments, deadline: deadline)
    }

    /// Runs a program as this user in `directory`.
    func run(
        _ arguments: [String], in directory: String, deadline: Deadline
    ) throws(EmbeddedPostgresError) -> Subprocess {
        try script(#"cd "$1" && shift && exec "$@""#, [directory] + arguments, deadline: deadline)
    }

    /// Copies what is in one directory into another. We read, and this user writes: so it works for a backup that only
    /// root may read. A copy can be incomplete without an error, so the caller checks it.
    func copyContents(
        of source: String, to target: String, deadline: Deadline
    ) throws(EmbeddedPostgresError) -> Subprocess {
        try Subprocess.run(
            ["/bin/sh", "-c", #"from=$1; shift; tar -C "$from" -cf - . | "$@""#, "sh", source]
                + switching() + ["/bin/sh", "-c", #"umask 077; exec tar -C "$1" -xf -"#, "sh", target],
            deadline: deadline)
    }

    /// The first of `paths` that this user cannot enter.
    func firstUnreachable(of paths: [String]) throws(EmbeddedPostgresError) -> String? {
        let outcome = try script(
            #"for path do [ -x "$path" ] || { printf '%s' "$path"; exit 9; }; done"#, paths,
            deadline: .after(seconds: 10))
        switch outcome.status {
        case 0: return nil
        case 9: return outcome.output
        default: throw .noServerUser(reason: "could not become user \(name): \(outcome.output)")
        }
    }

    /// The command prefix that switches to this user.
    private func switching() throws(EmbeddedPostgresError) -> [String] {
        guard !isCurrent else { return [] }
        for directory in ["/usr/bin", "/bin", "/usr/sbin", "/sbin"] {
            if FilePath.isExecutable(directory + "/setpriv") {
                return [directory + "/setpriv", "--reuid=\(user)", "--regid=\(group)", "--clear-groups", "--"]
            }
            if FilePath.isExecutable(directory + "/runuser") {
                return [directory + "/runuser", "-u", name, "--"]
            }
        }
        throw .noServerUser(
            reason: "PostgreSQL does not run as root, and there is neither setpriv nor runuser to switch to \(name) "
                + "with. Install util-linux, or run this as an ordinary user.")
    }

    private enum Key {
        case id(uid_t)
        case name(String)
    }

    private static func named(by key: Key) -> ServerAccount? {
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16_384)
        let code =
            switch key {
            case .id(let id): unsafe getpwuid_r(id, &entry, &buffer, buffer.count, &found)
            case .name(let name): unsafe getpwnam_r(name, &entry, &buffer, buffer.count, &found)
            }
        // SAFETY: the entry points into `buffer`, which lives until the end of this function.
        guard code == 0, unsafe found != nil, let name = unsafe entry.pw_name else { return nil }
        return unsafe ServerAccount(name: String(cString: name), user: entry.pw_uid, group: entry.pw_gid)
    }
}
