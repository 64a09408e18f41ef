internal import Glibc
internal import ServiceRuntime

/// Where a database keeps its files: its own directory in the data directory, accessible only to the server's user.
struct ServerDirectory: Sendable {
    /// The data directory without links, so that all processes use the same path.
    let path: String
    let account: ServerAccount

    /// `pg`: contains all of our files.
    var base: String { path + "/pg" }
    /// PostgreSQL's own data directory. A rename creates it complete, or it does not exist.
    var data: String { base + "/data" }
    /// Held while a process decides whether to start or stop the server.
    var transitionLock: String { base + "/transition.lock" }
    /// All users of the database hold it, shared.
    var leaseLock: String { base + "/lease.lock" }
    /// Exists while the running server should outlive its last user.
    var keepMarker: String { base + "/keep" }
    /// Exists while a backup is restored into this directory: until then nothing else may use it.
    var restoreMarker: String { base + "/restoring" }
    /// A complete database of a new version, just before it takes the place of the old one.
    var upgraded: String { base + "/data.upgraded" }
    /// The settings that a restored server had.
    var earlierSettings: String { base + "/settings-of-backup" }

    /// The directory of an existing database; nil if there is none.
    static func existing(_ path: String) throws(EmbeddedPostgresError) -> ServerDirectory? {
        let (real, missing) = try FilePath.resolve(path)
        guard missing.isEmpty else { return nil }
        let account = try account(for: real)
        let directory = ServerDirectory(path: real, account: account)
        try directory.requireTrust(asSpelled: path)
        return FileStatus(directory.transitionLock) == nil ? nil : directory
    }

    /// The directory of an existing or new database. Creates the missing parts.
    static func prepare(_ path: String, deadline: Deadline) throws(EmbeddedPostgresError) -> ServerDirectory {
        let (ancestor, missing) = try FilePath.resolve(path)
        let real = missing.reduce(ancestor == "/" ? "" : ancestor) { $0 + "/" + $1 }
        let account = try account(for: real)
        let directory = ServerDirectory(path: real, account: account)
        try directory.requireTrust(asSpelled: path)

        // If root owns an empty directory that was made for us (mktemp -d, a fresh volume), give it to the server's
        // user.
        let isGift =
            geteuid() == 0 && missing.isEmpty && real != "/" && FileStatus(real)?.owner == 0
            && FilePath.isEmptyDirectory(real)
        if !account.isCurrent {
            let mustBeEntered = isGift ? FilePath.parent(of: real) : ancestor
            if let obstacle = try account.firstUnreachable(of: FilePath.prefixes(of: mustBeEntered)) {
                throw .unreachable(path: obstacle, user: account.name)
            }
        }
        try makeDirectories(missing, under: ancestor, for: account)
        if isGift { try FilePath.give(real, to: account) }
        try directory.makeBase()
        if FileStatus(directory.leaseLock) == nil {
            let outcome = try account.script(
                #"cd "$1" && mkdir -p socket log && : >>transition.lock && : >>lease.lock"#, [directory.base],
                deadline: deadline)
            guard outcome.succeeded else {
                throw .unusableDirectory(
                    path: real, reason: "user \(account.name) cannot write to it: \(outcome.output)")
            }
        }
        return directory
    }

    private static func makeDirectories(
        _ names: [String], under ancestor: String, for account: ServerAccount
    ) throws(EmbeddedPostgresError) {
        var path = ancestor == "/" ? "" : ancestor
        for (index, name) in names.enumerated() {
            path += "/" + name
            let isLast = index == names.count - 1
            if unsafe mkdir(path, isLast ? 0o700 : 0o755) != 0 {
                guard errno == EEXIST else { throw .system(call: "mkdir", path: path, code: errno) }
            } else if !isLast && !account.isCurrent {
                // Root's umask may exclude the very user that the directory is for.
                try FilePath.open(path)
            }
            if isLast && !account.isCurrent { try FilePath.give(path, to: account) }
        }
    }

    private func makeBase() throws(EmbeddedPostgresError) {
        if unsafe mkdir(base, 0o700) != 0 && errno != EEXIST { throw .system(call: "mkdir", path: base, code: errno) }
        guard let status = FileStatus(base), status.isDirectory else {
            throw .unusableDirectory(path: path, reason: "\(base) is in the way.")
        }
        guard status.owner != account.user else { return }
        guard status.owner == 0, geteuid() == 0, FilePath.isEmptyDirectory(base) else {
            throw .unusableDirectory(
                path: path,
                reason: "\(base) belongs to root, and PostgreSQL does not run as root. "
                    + "Give it to a user: chown -R \(account.name) '\(base)'.")
        }
        try FilePath.give(base, to: account)
    }

    /// Refuses a directory that others own or can write to: they could have put a database there that root would start,
    /// or replaced a directory with a link. For an ordinary user, it checks only the directory itself: changes to the
    /// path above could at most lead to files that they own.
    private func requireTrust(asSpelled spelled: String) throws(EmbeddedPostgresError) {
        let users: Set = [account.user, geteuid()]
        var weakness: String?
        if geteuid() == 0 {
            weakness = TrustedPath.weakness(of: spelled, trusting: users)
            if weakness == nil { weakness = TrustedPath.weakness(of: base, trusting: users) }
        } else {
            for place in [path, base] {
                if let status = FileStatus(place), status.isWritableByAll { weakness = "anybody may write to \(place)" }
            }
        }
        guard let weakness else { return }
        throw .unusableDirectory(
            path: path,
            reason: "\(weakness), and anybody who can change its files could run code as another user. "
                + "Choose a directory of your own that nobody else may write to, or correct owner and mode.")
    }

    /// The user of the database: the owner of existing files, else root's choice, else the current user.
    private static func account(for real: String) throws(EmbeddedPostgresError) -> ServerAccount {
        let base = FileStatus(real + "/pg")
        let root = FileStatus(real)
        if let root, !root.isDirectory { throw .unusableDirectory(path: real, reason: "it is not a directory.") }
        guard geteuid() == 0 else {
            let account = try ServerAccount.current()
            var stranger = base?.owner ?? account.user
            // If we may not even look into the directory, we cannot see whose database it contains.
            if base == nil, let root, !FilePath.isExecutable(real) { stranger = root.owner }
            guard stranger == account.user else {
                throw .foreignOwner(path: real, owner: try ServerAccount.owner(stranger, of: real).name)
            }
            return account
        }
        // Root does not start a server that another user has set up, because that user decides what it runs.
        let server = try ServerAccount.forRoot()
        for place in [base, root].compactMap({ $0 }) where place.owner != 0 && place.owner != server.user {
            throw .foreignOwner(path: real, owner: try ServerAccount.owner(place.owner, of: place.path).name)
        }
        return server
    }
}
