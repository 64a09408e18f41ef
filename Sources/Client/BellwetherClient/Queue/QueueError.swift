internal import Foundation

/// Why the queue could not do what it was asked.
enum QueueError: Error, Hashable, CustomStringConvertible {
    /// A system call failed.
    case system(call: String, path: String, code: Int32)
    /// Other processes hold the queue for too long.
    case busy
    /// An event that is too large for any server.
    case tooLarge(bytes: Int)
    /// The person wants nothing recorded.
    case optedOut

    /// Whether the disk was full.
    var isFull: Bool {
        guard case .system(_, _, let code) = self else { return false }
        return code == ENOSPC || code == EDQUOT || code == EFBIG
    }

    /// Whether the file itself is permanently unusable. Other errors pass: before a phone is first unlocked (EPERM), or
    /// while a process has too many open files.
    var isOfTheFile: Bool {
        guard case .system(_, _, let code) = self else { return false }
        return code == EIO || code == EACCES || code == ELOOP
    }

    /// The reason under which an event that could not be written is counted.
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
        case .optedOut: "the person wants nothing recorded"
        case .tooLarge(let bytes):
            "an event of \(bytes) bytes is over the \(Record.longestBody) that the queue takes; "
                + "record less in one event"
        }
    }
}
