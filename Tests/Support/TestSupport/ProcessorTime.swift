internal import Glibc

/// The seconds of processor time that a body takes of this thread: what it costs, on a busy machine too.
package func processorTime(_ body: () throws -> Void) rethrows -> Double {
    func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
    let began = now()
    try body()
    return now() - began
}
