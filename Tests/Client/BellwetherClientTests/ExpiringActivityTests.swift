import Foundation
import ServiceRuntime
import TestSupport
import Testing

@testable import BellwetherClient

/// A system that suspends processes, as a test tells it to.
private final class System: Sendable {
    private let blocks = Lock<[@Sendable (Bool) -> Void]>([])
    private let returned = Lock<[Bool]>([])
    private let workers = Lock<[Worker]>([])

    var activity: ExpiringActivity { ExpiringActivity { _, block in self.blocks.withLock { $0.append(block) } } }
    var count: Int { blocks.withLock { $0.count } }
    /// What its calls had said that have returned.
    var ended: [Bool] { returned.withLock { $0 } }

    /// Calls the newest block on a thread of its own.
    func call(isOver: Bool) {
        let block = blocks.withLock { $0.last }
        let worker = Worker(name: "system") {
            block?(isOver)
            self.returned.withLock { $0.append(isOver) }
        }
        workers.withLock { $0.append(worker) }
    }

    func join() { for worker in workers.withLock({ $0 }) { worker.join() } }

    /// One that lets everything end.
    static let patient = ExpiringActivity { _, block in
        DispatchQueue.global().async { block(false) }
    }
}

@Suite("The system lets what was begun end before it suspends the process")
struct ExpiringActivityTests {
    private let system = System()
    private let calls = Lock<[String]>([])

    private func note(_ word: String) { calls.withLock { $0.append(word) } }
    private var noted: [String] { calls.withLock { $0 } }

    /// Begins some work; gives what ends it.
    private func begin() -> Lock<(@Sendable () -> Void)?> {
        let done = Lock<(@Sendable () -> Void)?>(nil)
        let calls = calls
        system.activity.perform("test") { ended in
            calls.withLock { $0.append("work") }
            done.withLock { $0 = ended }
        } hurry: {
            calls.withLock { $0.append("hurry") }
        } refused: {
            calls.withLock { $0.append("refused") }
        }
        return done
    }

    @Test("the process goes on until the work is done")
    func done() {
        let done = begin()
        #expect(noted == [], "it returns at once")
        system.call(isOver: false)
        #expect(eventually { noted == ["work"] })
        #expect(system.ended == [])
        done.withLock { $0 }?()
        system.join()
        #expect(system.ended == [false] && noted == ["work"])
    }

    @Test("when time runs out the work is hurried, and neither call returns before it is done")
    func expired() {
        let done = begin()
        system.call(isOver: false)
        #expect(eventually { noted == ["work"] })
        system.call(isOver: true)
        #expect(eventually { noted == ["work", "hurry"] })
        #expect(system.ended == [])
        done.withLock { $0 }?()
        system.join()
        #expect(system.ended.count == 2)
    }

    @Test("where there is no time the work never begins, and that is told once")
    func refused() {
        _ = begin()
        system.call(isOver: true)
        system.join()
        system.call(isOver: true)
        system.call(isOver: false)
        system.join()
        #expect(noted == ["refused"])
    }

    @Test("a delivery works on the queue within such activities; refused one it ends and blames nobody")
    func delivery() async throws {
        let post = Post(activity: System.patient) { _, _ in .well }
        try post.record(3)
        #expect(await post.courier.deliver(within: 600) == .delivered)
        #expect(post.server.stored == [1, 2, 3])
        let refusing = Post(in: post.scratch, activity: ExpiringActivity { _, block in block(true) }) { _, _ in .well }
        try refusing.record(1)
        #expect(await refusing.courier.deliver(within: 600) == .outOfTime)
        #expect(refusing.server.envelopes.count == 0)
        #expect(await refusing.heard(.deliveryFailed).isEmpty)
        #expect(try refusing.queue.drain().seqs == [4])
    }

    @Test("a flush in the background that runs out of time is cancelled, and the process goes on until it has ended")
    func flush() async throws {
        let began = AsyncStream.makeStream(of: Void.self)
        let post = Post { _, _ in
            began.continuation.yield()
            try await Task.sleep(nanoseconds: 600_000_000_000)
            return .well
        }
        try post.record(1)
        let bellwether = BellwetherClient.Bellwether(
            recorder: QueueRecorder(post.queue, Guarded(Source()), post.diagnostics, nil), courier: post.courier)
        bellwether.flush(within: 600, in: system.activity)
        system.call(isOver: false)
        for await _ in began.stream { break }
        #expect(system.ended == [])
        system.call(isOver: true)
        // Not blocking a thread that the flush may need.
        while system.ended.count < 2 { await Task.yield() }
        #expect(try post.queue.drain().seqs == [1], "nothing is lost, nobody holds the queue")
    }
}
