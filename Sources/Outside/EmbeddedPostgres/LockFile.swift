internal import Glibc
internal import ServiceRuntime

/// A lock that the kernel releases when its holder dies, for any reason.
///
/// flock(2) belongs to the open file description, so two of these in one process exclude each other as two processes
/// do. Close-on-exec keeps it from the server.
final class LockFile: Sendable {
    enum Mode: Sendable { case shared, exclusive }

    let path: String
    private let descriptor: Int32

    init(path: String) throws(EmbeddedPostgresError) {
        self.path = path
        descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw .system(call: "open", path: path, code: errno) }
    }

    deinit {
        unlock()
        close(descriptor)
    }

    /// Takes the lock, or changes its mode, if no other process prevents that. If a change is refused, the lock is
    /// lost.
    func tryLock(_ mode: Mode) -> Bool {
        flock(descriptor, (mode == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0
    }

    /// Takes the lock before the deadline; `what` describes what the holder does, for the error.
    func lock(_ mode: Mode, by deadline: Deadline, whileOthers what: String) throws(EmbeddedPostgresError) {
        while !tryLock(mode) {
            guard !deadline.hasPassed else { throw .timedOut(waitingFor: what) }
            Pause.brief(before: deadline)
        }
    }

    /// Explicit, because a child between fork and exec keeps the description open a moment longer than we do.
    func unlock() { flock(descriptor, LOCK_UN) }

    /// The processes that hold this lock, including this one, as far as the kernel shows them.
    var holders: [Int32] {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, let locks = TextFile.read("/proc/locks", limit: 1 << 20) else {
            return []
        }
        let inode = String(status.st_ino)
        let holders = locks.split(separator: "\n").compactMap { line -> Int32? in
            // "1: FLOCK  ADVISORY  READ 1234 08:01:5678 0 EOF"; a waiting process has "->" after the number.
            let words = line.split(separator: " ")
            guard words.count >= 6, words[1] == "FLOCK", words[5].split(separator: ":").last ?? "" == inode else {
                return nil
            }
            return Int32(words[4])
        }
        return Set(holders).sorted()
    }
}

/// A short pause between two checks of something that sends no notifications: another process's lock or files.
enum Pause {
    static func brief(before deadline: Deadline) {
        _ = poll(nil, 0, min(25, deadline.pollTimeout < 0 ? 25 : deadline.pollTimeout))
    }
}

/// A server, as its own lock file describes it.
struct Postmaster: Equatable, Sendable {
    enum Phase: Sendable { case starting, ready, stopping }

    let process: pid_t
    let phase: Phase
    /// Whether it replays an archived log and takes no connections yet.
    let isReplaying: Bool
    let port: Int
    let socketDirectory: String

    /// nil for a file without contents: a machine crash can leave an empty one.
    init?(lockFile text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let process = lines.first.flatMap({ pid_t($0) }), process > 0 else { return nil }
        self.process = process
        // Lines: process, data directory, start time, port, socket directory, address, shared memory, status. The
        // server writes them one after another while it starts.
        port = lines.count > 3 ? Int(lines[3]) ?? 0 : 0
        socketDirectory = lines.count > 4 ? String(lines[4]) : ""
        let status = lines.count > 7 ? lines[7] : ""
        isReplaying = status.hasPrefix("standby")
        phase =
            status.hasPrefix("ready") || status.hasPrefix("standby")
            ? .ready : status.hasPrefix("stopping") ? .stopping : .starting
    }
}
