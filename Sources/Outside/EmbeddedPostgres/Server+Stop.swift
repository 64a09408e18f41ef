internal import Glibc
internal import ServiceRuntime

extension Server {
    /// Stops the server if one runs, and returns whether one ran.
    func stop(deadline: Deadline) throws(EmbeddedPostgresError) -> Bool {
        while true {
            switch try observe(deadline: .after(seconds: 10)) {
            case .absent, .stale: return false
            case .present(let postmaster):
                try stop(postmaster, deadline: deadline)
                return true
            case .unclear: try rest(until: deadline, for: "a database server that is starting")
            }
        }
    }

    /// Disconnects everyone and stops cleanly. If time runs out, it stops at once, and the next start replays the log.
    func stop(_ postmaster: Postmaster, deadline: Deadline) throws(EmbeddedPostgresError) {
        let installation = try PostgresInstallation.matching(
            dataDirectory: directory.data, deadline: .after(seconds: 10))
        let patience = min(deadline.secondsLeft, 86_400)
        var said = ""
        for (mode, seconds) in [("fast", max(1, patience * 0.8)), ("immediate", max(5, patience * 0.2))] {
            let outcome = try control(
                installation, ["stop", "-w", "-m", mode, "-t", String(Int(saturating: seconds))],
                deadline: .after(seconds: seconds + 2))
            // The server may also have ended by itself meanwhile. Only the current state matters.
            switch try observe(deadline: .after(seconds: 10)) {
            case .absent, .stale:
                reap(postmaster, waiting: outcome.succeeded)
                removeShortSocketDirectory(postmaster.socketDirectory)
                log.info("the database has stopped", ["directory": directory.path, "mode": mode])
                return
            case .present, .unclear: said = outcome.output
            }
        }
        throw .stopFailed(directory: directory.path, output: said)
    }

    /// Removes our directory in /tmp.
    private func removeShortSocketDirectory(_ path: String) {
        guard !path.hasPrefix(directory.base), path == UnixSocket.home(of: directory) else { return }
        _ = try? directory.account.script(#"rmdir "$1""#, [path], deadline: .after(seconds: 5))
    }
}
