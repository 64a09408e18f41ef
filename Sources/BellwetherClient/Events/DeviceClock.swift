internal import Foundation

/// The clocks of the device: one that people set, and one that only goes forward.
struct DeviceClock: Sendable {
    var wall: @Sendable () -> Date
    /// Seconds since some beginning; never set back.
    var uptime: @Sendable () -> TimeInterval
    /// Returns after so many seconds, or throws when the task is cancelled.
    var sleep: @Sendable (TimeInterval) async throws -> Void = { seconds in
        try await Task.sleep(nanoseconds: UInt64(min(max(seconds, 0), 86_400 * 365) * 1e9))
    }

    static let system = DeviceClock(wall: { Date() }, uptime: { ProcessInfo.processInfo.systemUptime })

    /// The wall clock's time as events carry it.
    var now: Moment { Moment(wall()) }
}
