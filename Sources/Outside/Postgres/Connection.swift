internal import CLibPQ
internal import Glibc
package import ServiceRuntime

/// One connection to PostgreSQL, used by one thread at a time.
///
/// It is passed `inout` to synchronous closures: a transaction cannot suspend, and the connection cannot escape from
/// it. libpq runs in non-blocking mode, so that each call ends by `deadline` even if the server hangs.
@safe package struct Connection: ~Copyable {
    // SAFETY: the handle has this one owner, is closed once in `deinit`, and the type is neither copyable nor Sendable
    // by accident: code that moves it to another thread gives it up here.
    let handle: OpaquePointer
    private let notices: NoticeReceiver
    /// Names of the statements that the server has parsed on this connection.
    var prepared: [Preparation: String] = [:]

    /// What makes two statements the same to the server. The same text with parameters of other types is another
    /// statement.
    struct Preparation: Hashable {
        let sql: String
        let types: [UInt32]

        init(of statement: Statement) {
            sql = statement.sql
            types = statement.parameters.map(\.oid)
        }
    }

    /// Every call must end by this moment; otherwise it fails with `timedOut` and closes the connection.
    // Computed, since Swift 6.3 forgets the `deinit` of a noncopyable variable whose stored property is assigned in a
    // loop: some loops left their connections open.
    package var deadline: Deadline {
        get { limit }
        set { limit = newValue }
    }
    private var limit: Deadline = .never
    /// False once the connection broke: drop it and make another.
    package internal(set) var isUsable = true

    /// With which password it logged in; nil if none was asked for.
    package var password: String? {
        guard unsafe PQconnectionUsedPassword(handle) != 0, let text = unsafe PQpass(handle) else { return nil }
        return unsafe String(cString: text)
    }

    /// Connects. `url` is anything that libpq accepts, a URL or `key=value` pairs, with all its options (several hosts,
    /// TLS, …).
    package init(url: String, applicationName: String = "bellwether", log: Log = .silent) throws(PostgresError) {
        if let fault = ConnectionString.fault(in: url) { throw fault }
        // In order: what the URL may override, the URL, what the URL may not override.
        let keys = ["connect_timeout", "fallback_application_name", "dbname", "client_encoding"]
        let values = ["\(Int(ConnectionString.connectTimeout))", applicationName, url, "UTF8"]
        let connect = { @Sendable in
            unsafe withCStrings(keys) { keys in
                unsafe withCStrings(values) { values in unsafe PQconnectdbParams(keys, values, 1) }
            }
        }
        let patience = ConnectionString.connectSeconds(of: url)
        let attempt =
            if let patience {
                try unsafe ConnectAttempt.run(by: .after(seconds: patience), connect)
            } else { unsafe connect() }
        guard let handle = unsafe attempt else { throw .connection("out of memory") }
        guard unsafe PQstatus(handle) == CONNECTION_OK else {
            let reason = unsafe Connection.message(of: handle)
            unsafe PQfinish(handle)
            throw .connection(reason)
        }
        unsafe PQsetnonblocking(handle, 1)
        unsafe self.handle = handle
        notices = unsafe NoticeReceiver(of: handle, log: log)
    }

    deinit {
        unsafe PQfinish(handle)
    }

    /// The server's version, 150018 for 15.18.
    package var serverVersion: Int { unsafe Int(PQserverVersion(handle)) }

    /// A handle with which another thread can cancel what runs here.
    package func cancelHandle() -> CancelHandle? { unsafe CancelHandle(of: handle) }

    /// Whether a commit has given up waiting for a standby since this was last called: it succeeded, with a warning,
    /// and may be on this server only.
    package mutating func takeGivenUpStandby() -> Bool { notices.takeGivenUpStandby() }

    /// Whether a transaction is open, failed ones included.
    package var isInTransaction: Bool { unsafe PQtransactionStatus(handle) != PQTRANS_IDLE }

    /// Whether the open transaction can only be rolled back.
    var isInFailedTransaction: Bool { unsafe PQtransactionStatus(handle) == PQTRANS_INERROR }

    /// libpq's last error on this connection, in one line.
    static func message(of handle: OpaquePointer) -> String {
        guard let text = unsafe PQerrorMessage(handle) else { return "unknown" }
        return unsafe String(cString: text).split(whereSeparator: \.isNewline).map { line in line.drop { $0 == "\t" } }
            .joined(separator: "; ")
    }
}

/// Passes C an array of strings that ends with a null pointer.
private func withCStrings<Result>(
    _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
) -> Result {
    let copies = unsafe strings.map { string in unsafe strdup(string) }
    defer { unsafe copies.forEach { copy in unsafe free(copy) } }
    let pointers = unsafe copies.map { copy in unsafe UnsafePointer(copy) } + [nil]
    return unsafe pointers.withUnsafeBufferPointer { buffer in
        guard let start = buffer.baseAddress else { preconditionFailure("the null pointer at least is there") }
        return unsafe body(start)
    }
}

/// Cancels what a connection is running, from another thread. The statement then fails with SQLSTATE 57014.
@safe package final class CancelHandle: @unchecked Sendable {
    // SAFETY: libpq documents PQcancel as safe from any thread; the pointer is freed once, when nobody holds this.
    private let handle: OpaquePointer

    init?(of connection: OpaquePointer) {
        guard let handle = unsafe PQgetCancel(connection) else { return nil }
        unsafe self.handle = handle
    }

    deinit { unsafe PQfreeCancel(handle) }

    /// Asks the server to stop; returns nil if that worked, else why not. Blocks for one round trip.
    @discardableResult
    package func cancel() -> String? {
        var reason = [CChar](repeating: 0, count: 256)
        let sent = unsafe PQcancel(handle, &reason, Int32(reason.count))
        return sent == 1 ? nil : String(decoding: reason.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
