internal import Glibc
internal import ServiceRuntime

/// The contents of the configuration files that we write.
struct ServerSettings: Sendable {
    var size: MachineSize
    var socketDirectory: String
    /// Whether the server supports lz4, which costs a fraction of its own compression method.
    var hasLZ4: Bool
    /// The server's major version.
    var version: Int
    var overrides: [String: String]

    static let mainFile = "postgresql.conf"
    static let generatedFile = "embedded.conf"
    static let customFile = "custom.conf"

    static let mainText = """
        # The settings come from two files; the later one wins.
        include '\(generatedFile)'
        include_if_exists '\(customFile)'

        """

    static let customText = """
        # Your own settings go here. They win over \(generatedFile), and this file is never changed.

        """

    var generatedText: String {
        var text = """
            # Written anew at every start. Put your own settings into \(Self.customFile).

            """
        for (name, value) in settings { text += "\(name) = \(Self.quoted(value))\n" }
        // Anybody who is connected can fill the queue of NOTIFY, which we do not use: 64 MB instead of 8 GB.
        if version >= 17 { text += "max_notify_queue_pages = 8192\n" }
        if !overrides.isEmpty { text += "\n# For this start alone.\n" }
        for (name, value) in overrides.sorted(by: { $0.key < $1.key }) {
            text += "\(name) = \(Self.quoted(value))\n"
        }
        return text
    }

    private var settings: KeyValuePairs<String, String> {
        let memory = size.memory
        let writeAheadLog = (size.freeDisk / 10).clamped(256 << 20, 4 << 30)
        return [
            // Only reachable through a private directory.
            "listen_addresses": "",
            "port": "5432",
            "unix_socket_directories": Self.quotedListItem(socketDirectory),
            "unix_socket_permissions": "0700",
            "max_connections": "100",

            // Committed data survives a crash of the process or the machine.
            "fsync": "on",
            "synchronous_commit": "on",
            "full_page_writes": "on",

            // Do not assume a dedicated machine: the service and the page cache need memory, too.
            "shared_buffers": Self.megabytes((memory / 8).clamped(32 << 20, 2 << 30)),
            "effective_cache_size": Self.megabytes((memory / 2).clamped(64 << 20, 1 << 40)),
            "maintenance_work_mem": Self.megabytes((memory / 32).clamped(16 << 20, 512 << 20)),
            "work_mem": Self.megabytes((memory / 256).clamped(4 << 20, 32 << 20)),
            // Parallel queries fail if /dev/shm is as small as in containers; files work as well.
            "dynamic_shared_memory_type": size.sharedMemoryDisk < 256 << 20 ? "mmap" : "posix",

            // Few checkpoints, because the first change of a page after a checkpoint writes the whole page.
            "checkpoint_timeout": "15min",
            "max_wal_size": Self.megabytes(writeAheadLog),
            "min_wal_size": Self.megabytes(writeAheadLog / 4),
            "wal_compression": hasLZ4 ? "lz4" : "on",

            // Freeze and analyze growing tables in small steps instead of all at once at the end.
            "autovacuum": "on",
            "autovacuum_naptime": "20s",
            "autovacuum_vacuum_scale_factor": "0.05",
            "autovacuum_vacuum_insert_scale_factor": "0.05",
            "autovacuum_analyze_scale_factor": "0.02",

            // Plan for solid-state disks. Compiling queries costs more than it saves here.
            "random_page_cost": "1.1",
            "jit": "off",

            "timezone": "UTC",
            "log_timezone": "UTC",
            "lc_messages": "C",

            // A new file each day and each 10 MB; the newest ten are kept (`Server.removeOldLogs`). Kept short, because
            // error details may contain a row's data.
            "logging_collector": "on",
            "log_directory": "../log",
            "log_filename": "server-%Y-%m-%d-%H%M%S.log",
            "log_rotation_age": "1d",
            "log_rotation_size": "10MB",
            "log_truncate_on_rotation": "on",
            "log_error_verbosity": "terse",
            "log_min_error_statement": "panic",
            "log_line_prefix": "%m [%p] ",
        ]
    }

    /// The only way in: the local socket, for the operating-system users in the map. "all" does not include base
    /// backups.
    static let accessText = """
        # Written anew at every start.
        local all all peer map=\(mapName)
        local replication all peer map=\(mapName)

        """

    private static let mapName = "embedded"

    /// Who may log in as which role. Every pair is listed, because before version 16 a role cannot be "all" here.
    static func mapText(users: [String], roles: [String]) -> String {
        var text = "# Written anew at every start.\n"
        for user in users {
            for role in roles { text += "\(mapName) \(identifier(user)) \(identifier(role))\n" }
        }
        return text
    }

    private static func megabytes(_ bytes: Int) -> String { "\(bytes >> 20)MB" }

    static func quoted(_ value: String) -> String {
        "'" + value.flatMap { $0 == "'" ? "''" : $0 == "\\" ? "\\\\" : String($0) } + "'"
    }

    /// PostgreSQL splits a list setting at commas and folds case, unless its items are quoted.
    private static func quotedListItem(_ value: String) -> String { identifier(value) }

    private static func identifier(_ name: String) -> String {
        "\"" + name.flatMap { $0 == "\"" ? "\"\"" : String($0) } + "\""
    }
}

extension Int {
    fileprivate func clamped(_ least: Int, _ greatest: Int) -> Int { Swift.min(Swift.max(self, least), greatest) }
}

/// The resources of the machine: memory for caches, disk for the write-ahead log.
struct MachineSize: Equatable, Sendable {
    /// Bytes of memory for this process and its neighbours, including control group limits.
    var memory: Int
    /// Free bytes on the disk with the data.
    var freeDisk: Int
    /// Bytes of /dev/shm, which parallel queries share; containers often have only 64 MiB.
    var sharedMemoryDisk: Int

    static func measured(at path: String) -> MachineSize {
        MachineSize(
            memory: MachineMemory.limit, freeDisk: freeBytes(at: path), sharedMemoryDisk: freeBytes(at: "/dev/shm"))
    }

    private static func freeBytes(at path: String) -> Int {
        var status = statvfs()
        guard unsafe statvfs(path, &status) == 0 else { return 0 }
        return Int(clamping: status.f_bavail) * Int(clamping: status.f_frsize)
    }
}
