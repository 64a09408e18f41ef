internal import Glibc

/// A server as its own lock file describes it.
struct Postmaster: Equatable, Sendable {
    enum Phase: Sendable { case starting, ready, stopping }

    let process: pid_t
    let phase: Phase
    let port: Int
    let socketDirectory: String

    /// nil for a file that says nothing: a crash of the machine can leave an empty one.
    init?(lockFile text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let process = lines.first.flatMap({ pid_t($0) }), process > 0 else { return nil }
        self.process = process
        // Lines: process, data directory, start time, port, socket directory, address, shared memory, status. They
        // appear one after the other while the server starts.
        port = lines.count > 3 ? Int(lines[3]) ?? 0 : 0
        socketDirectory = lines.count > 4 ? String(lines[4]) : ""
        let status = lines.count > 7 ? lines[7] : ""
        phase =
            status.hasPrefix("ready") || status.hasPrefix("standby")
            ? .ready : status.hasPrefix("stopping") ? .stopping : .starting
    }
}
