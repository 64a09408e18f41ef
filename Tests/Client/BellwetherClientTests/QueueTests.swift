import Foundation
import Testing

@testable import BellwetherClient

@Suite("The queue keeps events")
struct QueueTests {
    private let scratch = QueueDirectory()
    private var queue: Queue { Queue(directory: scratch.url) }

    @Test("what is appended comes out once, in order, with seqs from 1, and settled it is gone")
    func order() throws {
        let queue = queue
        try queue.append(5)
        let batch = try #require(try queue.next(events: 3, bytes: 1000))
        #expect(batch.events.map(\.seq) == [1, 2, 3])
        #expect(String(decoding: batch.events[0].json, as: UTF8.self) == "{\"seq\":1}")
        #expect(try queue.next(events: 3, bytes: 1000)?.events.map(\.seq) == [1, 2, 3], "not settled, not gone")
        try queue.settle(batch)
        #expect(try queue.drain().seqs == [4, 5])
        #expect(try queue.next(events: 1, bytes: 1) == nil)
    }

    @Test("seqs rise over processes, deliveries and lost files for ever")
    func seqs() throws {
        #expect(try queue.append("{}") { _ in "{}" } == 1)
        #expect(try queue.append("{}") { _ in "{}" } == 2)
        #expect(try queue.drain().seqs == [1, 2])
        #expect(try queue.append("{}") { _ in "{}" } == 3)
        #expect(try queue.drain().seqs == [3])
        try FileManager.default.removeItem(atPath: scratch.path("state"))
        #expect(try queue.append("{}") { _ in "{}" } == 4)
        #expect(try queue.drain().seqs == [4], "what was delivered is not even there any more")
        #expect(try queue.drain().drops == [:])
    }

    @Test("a batch ends at so many events and at so many bytes, whatever their sources")
    func batches() throws {
        let queue = queue
        try queue.append(3, source: #"{"a":1}"#)
        try queue.append(4, source: #"{"a":2}"#)
        let first = try #require(try queue.next(events: 10, bytes: 1000))
        #expect(first.sources.map { String(decoding: $0, as: UTF8.self) } == [#"{"a":1}"#, #"{"a":2}"#])
        #expect(first.events.count == 7)
        #expect(try queue.next(events: 2, bytes: 1000)?.events.count == 2)
        #expect(try queue.next(events: 10, bytes: 27)?.events.count == 2)
        #expect(try queue.next(events: 10, bytes: 1)?.events.count == 1, "one always goes")
        try queue.settle(first.prefix(3))
        #expect(try queue.next(events: 10, bytes: 1000)?.events.map(\.seq) == [4, 5, 6, 7])
    }

    @Test("segments are closed when they are full, and gone when all in them is settled")
    func segments() throws {
        let queue = Queue(directory: scratch.url, limits: Queue.Limits(segment: 1000))
        try queue.append(40, size: 100)
        let full = scratch.names("events")
        #expect((5...8).contains(full.count))
        try queue.settle(try #require(try queue.next(events: 20, bytes: .max)))
        let left = scratch.names("events")
        #expect(left.count < full.count && left.count > 1 && full.suffix(left.count).elementsEqual(left))
        #expect(try queue.drain(events: 7).seqs == Array(21...40))
        #expect(scratch.names("events") == ["events-0000000000000041.log"])
        #expect(scratch.bytes("events-0000000000000041.log").isEmpty)
    }

    @Test("two that deliver the same at once settle it once, and nothing is missing")
    func twice() throws {
        let (one, other) = (queue, queue)
        try one.append(10)
        let early = try #require(try one.next(events: 4, bytes: 1000))
        let late = try #require(try other.next(events: 10, bytes: 1000))
        try other.settle(late)
        try one.settle(early)
        #expect(try one.drain().seqs == [])
        try other.append(1)
        #expect(try one.drain().seqs == [11])
        #expect(try one.drain().drops == [:])
    }

    @Test("an event larger than any server takes is refused and leaves nothing behind")
    func tooLarge() throws {
        let queue = queue
        #expect(throws: QueueError.tooLarge(bytes: 200_002)) {
            try queue.append("{}") { _ in String(repeating: "x", count: 200_000) }
        }
        try queue.append(1)
        #expect(try queue.drain().seqs == [1])
    }

    @Test("what was set aside is kept with its status, the newest of too many")
    func setAside() throws {
        let queue = queue
        try queue.append(20, size: 30_000)
        while let batch = try queue.next(events: 1, bytes: 1) { try queue.setAside(batch, status: 413) }
        #expect(SetAside(directory: queue.directory).count == 8)
        let lines = String(decoding: scratch.bytes("set-aside"), as: UTF8.self).split(separator: "\n")
        #expect(lines.allSatisfy { $0.contains(#""status":413"#) })
        #expect(lines.last?.contains(#"{\"seq\":20"#) == true)
    }

    @Test("the pace of deliveries is known to all processes, and a clock set back ends a wait")
    func pace() throws {
        let queue = queue
        var pace = try queue.change { pace in
            pace.failures = 3
            pace.wait(60, from: 1_000_000)
            return pace
        }
        let known = try self.queue.pace
        #expect(known.failures == 3)
        #expect(known.remaining(at: 1_010_000) == 50_000)
        #expect(known.remaining(at: 1_060_000) == 0)
        #expect(known.remaining(at: 999_999) == 0)
        pace.wait(50, from: 1_001_000)
        #expect(pace == known, "a shorter wait takes nothing from a longer one")
        pace.succeed(at: 999_999)
        #expect(pace == known, "whoever asked before it was told to wait knows nothing of that")
        pace.wait(.infinity, from: 0)
        #expect(pace.remaining(at: 0) == Pace.longest)
        pace.succeed(at: 0)
        #expect(pace == Pace())
    }

    @Test("all processes have one identity, also when they begin at once")
    func identity() async throws {
        let scratch = scratch
        let ids = try await withThrowingTaskGroup(of: UUID.self) { group in
            for _ in 0..<16 { group.addTask { try Identity(Queue(directory: scratch.url)).installID } }
            return try await group.reduce(into: Set<UUID>()) { $0.insert($1) }
        }
        #expect(ids.count == 1)
        let again = try Identity(queue).installID
        #expect(ids == [again])
        try scratch.write([1, 2, 3], to: "install")
        let made = try Identity(queue).installID
        let kept = try Identity(queue).installID
        #expect(made != again && made == kept, "a damaged one is replaced, once")
    }
}
