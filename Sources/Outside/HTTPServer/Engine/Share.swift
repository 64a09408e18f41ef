internal import Glibc
internal import ServiceRuntime

/// A share of one processor: a quarter of it, for work that anybody can cause. The rest of the time, the processor is
/// free for others, and the kernel wakes this thread at once for them, since it has used less than its due.
struct Share {
    private var spent: Int64 = 0
    private var resumes = Deadline(nanoseconds: 0)

    /// How long the work goes on at a stretch, in nanoseconds of the processor's time.
    private static let stretch: Int64 = 250_000
    /// How many times as long it rests then.
    private static let rest: Int64 = 3

    var mayGoOn: Bool { resumes.hasPassed }

    /// Does a part of the work, which should be short.
    mutating func use(_ work: () -> Void) {
        let began = Share.processorTime
        work()
        spent += Share.processorTime - began
        guard spent >= Share.stretch else { return }
        resumes = Deadline(nanoseconds: Deadline.now.nanoseconds + spent * Share.rest)
        spent = 0
    }

    /// Of this thread: what others do meanwhile does not count.
    private static var processorTime: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
