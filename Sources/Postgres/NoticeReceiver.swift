internal import CLibPQ
internal import ServiceRuntime

/// Takes the server's notices and warnings to the log, where libpq would print them.
final class NoticeReceiver: Sendable {
    private let log: Log
    private let warned = Lock(0)

    /// SAFETY: libpq keeps an unretained pointer to this object, so the connection that owns the handle owns this too,
    /// and is closed before it is released.
    init(of handle: OpaquePointer, log: Log) {
        self.log = log
        unsafe PQsetNoticeReceiver(handle, NoticeReceiver.receive, Unmanaged.passUnretained(self).toOpaque())
    }

    /// How many warnings came since this was last asked.
    func takeWarnings() -> Int {
        warned.withLock { warned in
            defer { warned = 0 }
            return warned
        }
    }

    private static let receive: PQnoticeReceiver = { context, result in
        guard let context = unsafe context, let result = unsafe result else { return }
        let receiver = unsafe Unmanaged<NoticeReceiver>.fromOpaque(context).takeUnretainedValue()
        let severity = unsafe ServerField.severity.read(from: result) ?? "NOTICE"
        let message = unsafe ServerField.message.read(from: result) ?? ""
        if severity == "WARNING" {
            receiver.warned.withLock { $0 += 1 }
            receiver.log.warning("PostgreSQL: \(message)")
        } else {
            receiver.log.debug("PostgreSQL: \(message)", ["severity": severity])
        }
    }
}

/// The fields of a server message that we read.
enum ServerField {
    case severity, state, message, detail, hint, constraint

    func read(from result: OpaquePointer) -> String? {
        let code: Character =
            switch self {
            case .severity: "V"
            case .state: "C"
            case .message: "M"
            case .detail: "D"
            case .hint: "H"
            case .constraint: "n"
            }
        guard let text = unsafe PQresultErrorField(result, Int32(code.asciiValue!)) else { return nil }
        return unsafe String(cString: text)
    }
}
