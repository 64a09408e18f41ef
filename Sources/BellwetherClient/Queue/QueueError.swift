internal import Foundation

/// Why the queue could not do what it was asked.
enum QueueError: Error, Hashable, CustomStringConvertible {
    /// The system said no.
    case system(call: String, path: String, code: Int32)
    /// Others hold the queue for longer than anybody should.
    case busy
    /// An event that no server would take.
    case tooLarge(bytes: Int)

    /// Whether there was no room for it.
    var isFull: Bool {
        guard case .system(_, _, let code) = self else { return false }
        return code == ENOSPC || code == EDQUOT || code == EFBIG
    }

    /// Whether a file itself is at fault and stays so. A phone that was not unlocked yet (EPERM), or a process with too
    /// many open files, reads it later.
    var isOfTheFile: Bool {
        guard case .system(_, _, let code) = self else { return false }
        return code == EIO || code == EACCES || code == ELOOP
    }

    /// As what an event that could not be written down is counted.
    var reason: Drop.Reason {
        if case .tooLarge = self { return .size }
        return isFull ? .size : .unreadable
    }

    var description: String {
        switch self {
        case .system(let call, let path, let code):
            "\(call) of \(path) failed: \(unsafe String(cString: strerror(code)))"
        case .busy:
            "another process or task has kept the queue for too long"
        case .tooLarge(let bytes):
            "an event of \(bytes) bytes is over the \(Record.longestBody) that the queue takes; record less in one event"
        }
    }
}
