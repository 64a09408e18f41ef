internal import Foundation

/// A value that one thread at a time may touch.
///
/// Over `NSLock`: `Synchronization.Mutex` is younger than the oldest system that the library runs on.
final class Guarded<Value>: @unchecked Sendable {
    // `value` is only reached between lock and unlock.
    private let lock = NSLock()
    private var value: Value

    init(_ value: sending Value) { self.value = value }

    /// Runs `body` alone. Keep it short, and never call out to unknown code from it.
    func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }

    /// Runs `body` alone, if that is possible within so many seconds; else gives nothing.
    func withLock<Result, Failure: Error>(
        within seconds: TimeInterval, _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
        guard lock.try() || lock.lock(before: Date(timeIntervalSinceNow: seconds)) else { return nil }
        defer { lock.unlock() }
        return try body(&value)
    }
}
