import ServiceRuntime
import Testing

@Suite("Locks and waiting")
struct LockTests {
    @Test("many threads that count together lose nothing")
    func exclusion() {
        let count = Lock(0)
        let workers = (0..<8).map { number in
            Worker(name: "counter-\(number)") {
                for _ in 0..<10_000 { count.withLock { $0 += 1 } }
            }
        }
        for worker in workers { worker.join() }
        #expect(count.withLock { $0 } == 80_000)
    }

    @Test("what is thrown within comes out, and the lock is free again")
    func throwing() {
        struct Refusal: Error {}
        let lock = Lock(1)
        #expect(throws: Refusal.self) { try lock.withLock { (_: inout Int) throws(Refusal) in throw Refusal() } }
        #expect(throws: Refusal.self) {
            try lock.withLockNotifying { (_: inout Int) throws(Refusal) in throw Refusal() }
        }
        #expect(lock.withLock { $0 } == 1)
    }

    @Test("a wait ends at its deadline with nothing, and not before")
    func deadline() {
        let lock = Lock(0)
        let start = Deadline.now
        #expect(lock.wait(until: .after(seconds: 0.1)) { $0 == 1 ? true : nil } == nil)
        #expect(Deadline.now.nanoseconds - start.nanoseconds >= 100_000_000)
    }

    @Test("a deadline that has passed still looks once")
    func passed() {
        let lock = Lock(1)
        #expect(lock.wait(until: .now) { $0 == 1 ? "there" : nil } == "there")
        #expect(lock.wait(until: Deadline(nanoseconds: -1)) { $0 == 2 ? "there" : nil } == nil)
    }

    @Test(
        "a change wakes who waits, with a deadline and without one", arguments: [true, false])
    func notification(hasDeadline: Bool) {
        let lock = Lock([Int]())
        let giver = Worker(name: "giver") {
            for number in 1...3 { lock.withLockNotifying { $0.append(number) } }
        }
        // Woken, or the test would take an hour or not end.
        #expect(
            lock.wait(until: hasDeadline ? .after(seconds: 3600) : .never) { $0.count == 3 ? $0 : nil } == [1, 2, 3])
        giver.join()
    }

    @Test("a change wakes everybody who waits")
    func broadcast() {
        let lock = Lock((waiting: 0, isOpen: false, through: 0))
        let workers = (0..<4).map { number in
            Worker(name: "waiter-\(number)") {
                lock.withLockNotifying { $0.waiting += 1 }
                let passed = lock.wait(until: .after(seconds: 30)) { $0.isOpen ? true : nil }
                lock.withLock { $0.through += passed == true ? 1 : 0 }
            }
        }
        _ = lock.wait(until: .after(seconds: 60)) { $0.waiting == 4 ? true : nil }
        lock.withLockNotifying { $0.isOpen = true }
        for worker in workers { worker.join() }
        #expect(lock.withLock { $0.through } == 4)
    }
}
