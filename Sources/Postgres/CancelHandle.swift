internal import CLibPQ

/// Cancels what a connection is running, from another thread. The statement then fails with SQLSTATE 57014.
@safe package final class CancelHandle: @unchecked Sendable {
    // SAFETY: libpq documents PQcancel as safe from any thread; the pointer is freed once, when nobody holds this.
    private let handle: OpaquePointer

    init?(of connection: OpaquePointer) {
        guard let handle = unsafe PQgetCancel(connection) else { return nil }
        unsafe self.handle = handle
    }

    deinit { unsafe PQfreeCancel(handle) }

    /// Asks the server to stop; nil when it was asked, else why it could not be. Blocks for one round trip.
    @discardableResult
    package func cancel() -> String? {
        var reason = [CChar](repeating: 0, count: 256)
        let sent = unsafe PQcancel(handle, &reason, Int32(reason.count))
        return sent == 1 ? nil : String(decoding: reason.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
