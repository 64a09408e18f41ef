import ServiceRuntime
import Testing

@Suite("Deadlines and back-off")
struct DeadlineTests {
    @Test("a deadline lies so many seconds ahead, and has passed when it is reached")
    func ahead() {
        let before = Deadline.now
        let deadline = Deadline.after(seconds: 1.5)
        #expect(deadline.nanoseconds >= before.nanoseconds + 1_500_000_000)
        #expect(!deadline.hasPassed)
        #expect(deadline.secondsLeft > 0 && deadline.secondsLeft <= 1.5)
        #expect(deadline.pollTimeout > 0 && deadline.pollTimeout <= 1500)
        #expect(Deadline.now.hasPassed)
        #expect(Deadline.after(seconds: 0).hasPassed)
        #expect(Deadline(nanoseconds: 1).secondsLeft == 0)
        #expect(Deadline(nanoseconds: 1).pollTimeout == 0)
        #expect(before < deadline && deadline < .never)
    }

    @Test(
        "never does not pass, and is what does not fit", arguments: [.infinity, 1e18, Double.greatestFiniteMagnitude])
    func never(seconds: Double) {
        let deadline = Deadline.after(seconds: seconds)
        #expect(deadline == .never && Deadline.now.later(by: seconds) == .never)
        #expect(!deadline.hasPassed)
        #expect(deadline.secondsLeft == .infinity)
        #expect(deadline.pollTimeout == -1)
    }

    @Test(
        "seconds that make no sense are no seconds", arguments: [-1, -.infinity, .nan, -Double.greatestFiniteMagnitude])
    func senseless(seconds: Double) {
        #expect(Deadline.after(seconds: seconds).hasPassed)
    }

    @Test("poll is told milliseconds rounded up, so that it does not spin through the last one, and never too many")
    func rounding() {
        let now = Deadline.now
        #expect(Deadline(nanoseconds: now.nanoseconds + 60_000_000_500).pollTimeout > 50_000)
        #expect(Deadline.after(seconds: 1e8).pollTimeout == 1_000_000_000)
        let soon = Deadline.after(seconds: 0.0005)
        if !soon.hasPassed { #expect(soon.pollTimeout <= 1) }
    }

    @Test("the monotonic clock never goes back")
    func monotonic() {
        var last = Deadline.now
        for _ in 0..<1000 {
            let now = Deadline.now
            #expect(now >= last)
            last = now
        }
    }

    @Test("back-off doubles up to its bound, with jitter in the upper half, and starts anew when reset")
    func backoff() {
        for _ in 0..<50 {
            var backoff = Backoff(first: 0.5, most: 6)
            for bound in [0.5, 1, 2, 4, 6, 6, 6] {
                let seconds = backoff.next()
                #expect(seconds >= bound / 2 && seconds <= bound)
            }
            backoff.reset()
            #expect(backoff.next() <= 0.5)
        }
        var one = Backoff(first: 100, most: 100)
        #expect(Set((0..<20).map { _ in one.next() }).count > 1)
    }

    @Test("the wall clock is that of the world")
    func wallClock() {
        #expect("\(WallClock.now)" > "2026-")
    }
}
