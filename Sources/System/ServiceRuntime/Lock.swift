internal import Glibc

/// A value that only one thread at a time may use, and whose changes other threads can wait for.
///
/// One pthread mutex and one condition variable. Not `Synchronization.Mutex`, because ThreadSanitizer
/// does not understand that one with this toolchain and reports races that do not exist.
@safe package final class Lock<State>: @unchecked Sendable {
    // SAFETY: `state` is only used between lock and unlock of `mutex`. Both C objects keep a fixed address for as long
    // as this object lives, and are destroyed when no thread can hold them any more.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>
    private var state: State

    package init(_ state: sending State) {
        self.state = state
        unsafe mutex = .allocate(capacity: 1)
        unsafe changed = .allocate(capacity: 1)
        unsafe pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(changed, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_cond_destroy(changed)
        unsafe pthread_mutex_destroy(mutex)
        unsafe changed.deallocate()
        unsafe mutex.deallocate()
    }

    /// Runs `body` alone. Keep it short, and never call unknown code from it.
    package func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(&state)
    }

    /// Like `withLock`, then wakes all waiting threads.
    package func withLockNotifying<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        unsafe pthread_mutex_lock(mutex)
        defer {
            unsafe pthread_cond_broadcast(changed)
            unsafe pthread_mutex_unlock(mutex)
        }
        return try body(&state)
    }

    /// Waits until `body` returns a value, however long it takes. It calls `body` at once and after every notification.
    package func wait<Result>(for body: (inout State) -> sending Result?) -> sending Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            unsafe pthread_cond_wait(changed, mutex)
        }
    }

    /// Waits until `body` returns a value or the deadline passes. It calls `body` at once and after every notification.
    /// Returns nil only after the deadline.
    package func wait<Result>(
        until deadline: Deadline, for body: (inout State) -> sending Result?
    ) -> sending Result? {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            guard !deadline.hasPassed else { return nil }
            if deadline == .never {
                unsafe pthread_cond_wait(changed, mutex)
            } else {
                var time = timespec(
                    tv_sec: Int(deadline.nanoseconds / 1_000_000_000),
                    tv_nsec: Int(deadline.nanoseconds % 1_000_000_000))
                unsafe pthread_cond_timedwait(changed, mutex, &time)
            }
        }
    }
}
