import Foundation
import ServiceRuntime
import Testing

@Suite("Workers")
struct WorkerTests {
    @Test(
        "a worker runs under its name, cut to what the kernel keeps",
        arguments: [
            ("short", "short"), ("exactly-fifteen", "exactly-fifteen"), ("a-name-of-twenty-byte", "a-name-of-twent"),
            ("สวัสดีชาวโลก", "สวัสด"),
        ])
    func name(given: String, shown: String) {
        let name = Lock("")
        Worker(name: given) {
            let text = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
            name.withLock { $0 = text ?? "unreadable" }
        }.join()
        #expect(name.withLock { $0 } == shown + "\n")
    }

    @Test("everybody who joins waits for the end, also when another is waiting already")
    func join() {
        let gate = Lock(false)
        let hasEnded = Lock(false)
        let worker = Worker(name: "slow") {
            _ = gate.wait(until: .after(seconds: 30)) { $0 ? true : nil }
            hasEnded.withLock { $0 = true }
        }
        let seen = Lock([Bool]())
        let joining = Lock(0)
        let joiners = (0..<3).map { number in
            Worker(name: "joiner-\(number)") {
                joining.withLockNotifying { $0 += 1 }
                worker.join()
                let ended = hasEnded.withLock { $0 }
                seen.withLockNotifying { $0.append(ended) }
            }
        }
        _ = joining.wait(until: .after(seconds: 60)) { $0 == 3 ? true : nil }
        // Time for one that does not wait to get past: all three stand before the join or in it.
        #expect(seen.wait(until: .after(seconds: 0.1)) { $0.isEmpty ? nil : true } == nil)
        gate.withLockNotifying { $0 = true }
        for joiner in joiners { joiner.join() }
        #expect(seen.withLock { $0 } == [true, true, true])
        worker.join()
    }

    @Test("a worker that nobody joins runs to its end")
    func unjoined() {
        let hasEnded = Lock(false)
        _ = Worker(name: "alone") { hasEnded.withLockNotifying { $0 = true } }
        #expect(hasEnded.wait(until: .after(seconds: 60)) { $0 ? true : nil } == true)
    }
}
