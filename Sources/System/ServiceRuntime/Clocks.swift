internal import Glibc
package import Values

/// A moment on the monotonic clock before which something must have happened.
package struct Deadline: Hashable, Comparable, Sendable {
    /// Nanoseconds of the monotonic clock.
    package let nanoseconds: Int64

    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// No deadline at all.
    package static let never = Deadline(nanoseconds: .max)

    /// The present moment.
    package static var now: Deadline {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Deadline(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// The deadline this many seconds from now, fractions included; a value that does not fit is `never`.
    package static func after(seconds: Double) -> Deadline {
        let nanoseconds = Double(now.nanoseconds) + max(0, seconds) * 1e9
        return nanoseconds < 9e18 ? Deadline(nanoseconds: Int64(saturating: nanoseconds)) : .never
    }

    /// The moment so many seconds after this one; `never` if that does not fit.
    package func later(by seconds: Double) -> Deadline {
        let (sum, isOver) = nanoseconds.addingReportingOverflow(Int64(saturating: seconds * 1e9))
        return isOver || self == .never ? .never : Deadline(nanoseconds: sum)
    }

    package func seconds(since earlier: Deadline) -> Double { Double(nanoseconds - earlier.nanoseconds) / 1e9 }

    package var hasPassed: Bool { self != .never && Deadline.now >= self }

    /// Seconds left, never below 0; infinite for `never`.
    package var secondsLeft: Double {
        self == .never ? .infinity : max(0, Double(nanoseconds - Deadline.now.nanoseconds) / 1e9)
    }

    /// The argument for poll(2): milliseconds rounded up, -1 for no limit.
    package var pollTimeout: Int32 {
        self == .never ? -1 : Int32(saturating: min(secondsLeft * 1000, 1e9).rounded(.up))
    }

    package static func < (left: Deadline, right: Deadline) -> Bool { left.nanoseconds < right.nanoseconds }
}

/// The time of day.
package enum WallClock {
    package static var now: Timestamp {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000)
    }
}

/// A time of day, and how far it was from the monotonic clock, which cannot be set. If the
/// right distance is learned later, it tells whether this time was right.
package struct ClockReading: Sendable {
    package let time: Timestamp
    /// Microseconds.
    package let distance: Int64

    /// Reads a clock. A demonstration lives at another time, which it tells; its clock is judged all the same.
    package init(of clock: () -> Timestamp = { WallClock.now }, telling other: (() -> Timestamp)? = nil) {
        let read = clock()
        distance = read.microseconds - Deadline.now.nanoseconds / 1000
        time = other?() ?? read
    }
}
