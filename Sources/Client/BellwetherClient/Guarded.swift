internal import Foundation

/// A value that only one thread at a time may use.
///
/// Built on `NSLock`, because `Synchronization.Mutex` needs a newer system than the oldest that the library supports.
final class Guarded<Value>: @unchecked Sendable {
    // `value` is only used between lock and unlock.
    private let lock = NSLock()
    private var value: Value

    init(_ value: sending Value) { self.value = value }

    /// Runs `body` alone. Keep it short, and never call unknown code from it.
    func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }

    /// Runs `body` alone if it gets the lock within this many seconds. Otherwise returns nil.
    func withLock<Result, Failure: Error>(
        within seconds: TimeInterval, _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
        guard lock.try() || lock.lock(before: Date(timeIntervalSinceNow: seconds)) else { return nil }
        defer { lock.unlock() }
        return try body(&value)
    }
}
