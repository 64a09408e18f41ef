internal import ServiceRuntime

/// Runs a body on so many threads at once and returns when all have ended; the first error is thrown.
package func together(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
    let ready = Lock(0)
    let failures = Lock<[any Error]>([])
    let workers = (0..<count).map { number in
        Worker(name: "together-\(number)") {
            // Nobody starts before everybody is there.
            ready.withLockNotifying { $0 += 1 }
            _ = ready.wait(until: .after(seconds: 60)) { $0 == count ? true : nil }
            do { try body(number) } catch { failures.withLock { $0.append(error) } }
        }
    }
    for worker in workers { worker.join() }
    if let failure = failures.withLock({ $0.first }) { throw failure }
}
