internal import Console
internal import EmbeddedPostgres
internal import Glibc

extension Examination {
    /// Of the embedded database: the disk of any other may be on another machine.
    static let disk = Examination(name: "disk", readsOurs: false) { access, _ in
        guard let directory = access.cluster?.dataDirectory else { return nil }
        var status = statvfs()
        guard unsafe statvfs(directory, &status) == 0 else {
            return .warn("the disk of \(directory) could not be measured", do: "run doctor as who owns the directory")
        }
        return judge(
            directory, free: Int(clamping: status.f_bavail) * Int(clamping: status.f_frsize),
            of: Int(clamping: status.f_blocks) * Int(clamping: status.f_frsize))
    }

    /// A full disk stops every commit, and the write-ahead log needs room to be reused.
    static func judge(_ directory: String, free: Int, of all: Int) -> Finding {
        let what = "\(free >> 20) MiB free of \(all >> 20) MiB in \(directory)"
        let remedy =
            "make room, or move the data directory to a larger disk; bellwether retain --days N drops old events"
        if free < 512 << 20 { return .fail(what, do: remedy) }
        return free < 4 << 30 || free < all / 20 ? .warn(what, do: remedy) : .ok(what)
    }
}
