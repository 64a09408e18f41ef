internal import CServerSockets
internal import ServiceRuntime
internal import Synchronization

/// Gives memory back to the system after many connections or bodies are gone. What is freed stays with the C library
/// otherwise: a service that held 800 MB for a minute would keep it until it ends.
///
/// It works on a thread of its own, since giving back hundreds of megabytes takes milliseconds.
final class MemoryReturn: Sendable {
    private let counters: ServerCounters
    private let isStopping = Lock(false)
    private let worker = Lock(Worker?.none)

    private static let interval = 2.0
    /// Less than this is not worth the work: the next requests use it.
    private static let least = 16 << 20

    init(_ counters: ServerCounters) { self.counters = counters }

    func start() {
        worker.withLock { $0 = Worker(name: "memory", niceness: 5) { self.run() } }
    }

    func stop() {
        isStopping.withLockNotifying { $0 = true }
        worker.withLock { $0 }?.join()
    }

    private func run() {
        // The most that was held since memory was last given back.
        var most = 0
        while isStopping.wait(until: .after(seconds: MemoryReturn.interval), for: { $0 ? true : nil }) == nil {
            let held = counters.memoryHeld.load(ordering: .relaxed)
            most = max(most, held)
            guard most - held >= MemoryReturn.least else { continue }
            bellwether_give_memory_back()
            most = held
        }
    }
}
