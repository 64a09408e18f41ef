internal import CLibPQ
internal import ServiceRuntime

/// Writes the server's notices and warnings to the log; libpq would print them.
final class NoticeReceiver: Sendable {
    private let log: Log
    private let gaveUpStandby = Lock(false)

    /// SAFETY: libpq keeps an unretained pointer to this object, so the connection that owns the handle owns this too,
    /// and is closed before it is released.
    init(of handle: OpaquePointer, log: Log) {
        self.log = log
        unsafe PQsetNoticeReceiver(handle, NoticeReceiver.receive, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Whether a commit has given up waiting for a standby since this was last called.
    func takeGivenUpStandby() -> Bool {
        gaveUpStandby.withLock { gaveUp in
            defer { gaveUp = false }
            return gaveUp
        }
    }

    private static let receive: PQnoticeReceiver = { context, result in
        guard let context = unsafe context, let result = unsafe result else { return }
        let receiver = unsafe Unmanaged<NoticeReceiver>.fromOpaque(context).takeUnretainedValue()
        let severity = unsafe ServerField.severity.read(from: result) ?? "NOTICE"
        let message = unsafe ServerField.message.read(from: result) ?? ""
        // This part of the server has only this one warning. It has no SQLSTATE of its own, and its text may be in any
        // language.
        if unsafe ServerField.file.read(from: result) == "syncrep.c" { receiver.gaveUpStandby.withLock { $0 = true } }
        if severity == "WARNING" {
            receiver.log.warning("PostgreSQL: \(message)")
        } else {
            receiver.log.debug("PostgreSQL: \(message)", ["severity": severity])
        }
    }
}

/// The fields of a server message that we read.
enum ServerField {
    case severity, state, message, detail, hint, constraint, file

    func read(from result: OpaquePointer) -> String? {
        let code: Unicode.Scalar =
            switch self {
            case .severity: "V"
            case .state: "C"
            case .message: "M"
            case .detail: "D"
            case .hint: "H"
            case .constraint: "n"
            case .file: "F"
            }
        guard let text = unsafe PQresultErrorField(result, Int32(code.value)) else { return nil }
        return unsafe String(cString: text)
    }
}
