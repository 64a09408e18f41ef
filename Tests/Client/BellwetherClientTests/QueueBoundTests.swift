import Foundation
import Testing

@testable import BellwetherClient

@Suite("The queue is bounded, by what is there and not by a clock that jumps")
struct QueueBoundTests {
    private let scratch = QueueDirectory()
    private static let day: TimeInterval = 86_400

    @Test("the oldest events go when there are too many, are counted, and the newest stay")
    func size() throws {
        let diagnostics = Diagnostics()
        let limits = Queue.Limits(bytes: 10_000, segment: 1_000)
        let queue = Queue(directory: scratch.url, limits: limits, diagnostics: diagnostics)
        try queue.append(200, size: 50)
        let size = scratch.names("events").reduce(0) { $0 + scratch.bytes($1).count }
        #expect((8_000...11_000).contains(size), "\(size)")
        let (seqs, drops) = try queue.drain()
        #expect(seqs == Array((201 - Int64(seqs.count))...200))
        #expect(drops == [.size: 200 - Int64(seqs.count)])
        #expect(diagnostics.count(of: .dropped) == 200 - seqs.count)
    }

    @Test("events that waited for too long go, are counted with the time of the first, and younger ones stay")
    func age() throws {
        let clock = SetClock()
        let limits = Queue.Limits(age: Int64(10 * QueueBoundTests.day * 1000))
        let queue = Queue(directory: scratch.url, limits: limits, clock: { clock.now })
        let began = clock.now
        for _ in 0..<20 {
            try queue.append(1)
            clock.jump(QueueBoundTests.day)
        }
        let batch = try #require(try queue.next(events: 100, bytes: .max))
        #expect(batch.events.map(\.seq) == Array(11...20))
        #expect(batch.drops.map(\.count) == [10])
        #expect(batch.drops[0].reason == .age && batch.drops[0].since == began.milliseconds)
        try queue.settle(batch)
        for _ in 0..<12 {
            try queue.append(1)
            clock.jump(QueueBoundTests.day * 20)
        }
        #expect(try queue.drain().seqs == Array(23...32), "a pause counts for a day")
    }

    @Test("a clock that jumps back and forth by years neither drops nor reorders")
    func jumps() throws {
        let clock = SetClock()
        let queue = Queue(directory: scratch.url, clock: { clock.now })
        for years in [10.0, -20, 30, -5, 500, -515, 3, -3] {
            try queue.append(3)
            clock.jump(years * 365 * QueueBoundTests.day)
            _ = try queue.next(events: 1, bytes: 1)
        }
        let (seqs, drops) = try queue.drain()
        #expect(seqs == Array(1...24) && drops == [:])
    }

    @Test("what was dropped is told with one id until it is acknowledged; what came since has another")
    func told() throws {
        let queue = Queue(directory: scratch.url, limits: Queue.Limits(bytes: 3_000, segment: 1_000))
        try queue.append(100, size: 50)
        let first = try #require(try queue.next(events: 1, bytes: 1))
        #expect(first.drops.count == 1)
        try queue.append(100, size: 50)
        let second = try #require(try Queue(directory: scratch.url).next(events: 1, bytes: 1))
        #expect(second.drops == first.drops, "unchanged, in every process")
        try queue.settle(second)
        let third = try #require(try queue.next(events: 1, bytes: 1))
        #expect(third.drops.count == 1 && third.drops[0].id != first.drops[0].id)
        try queue.settle(third)
        let (seqs, drops) = try queue.drain()
        #expect(drops == [:])
        #expect(first.drops[0].count + third.drops[0].count + Int64(seqs.count) + 2 >= 200)
    }

    @Test("what is being delivered is not thrown away meanwhile, so that nothing stored is counted as dropped")
    func inFlight() throws {
        let queue = Queue(directory: scratch.url, limits: Queue.Limits(bytes: 10_000, segment: 1_000))
        try queue.append(75, size: 50)
        let batch = try #require(try queue.next(events: 5, bytes: .max))
        try queue.append(20, size: 50)
        try queue.settle(batch)
        let (seqs, drops) = try queue.drain()
        let before: Int64 = batch.drops.map(\.count).reduce(0, +)
        let since: Int64 = drops.values.reduce(0, +)
        let stored = Int64(seqs.count + 5)
        #expect(before + since + stored == 95)
    }

    @Test("limits beyond reason are brought within it")
    func limits() {
        let most = Queue.Limits(maximumBytes: .max, maximumDays: .max)
        #expect(most.bytes == .max && most.age == 36_500 * 86_400_000)
        let least = Queue.Limits(maximumBytes: -1, maximumDays: .min)
        #expect(least.bytes == least.segment && least.age == 0)
    }

    @Test("a drop stands in the envelope as the contract has it")
    func json() throws {
        var drops = Drops()
        drops.add(2, since: 1_800_000_000_412, reason: .size)
        drops.add(3, since: 1_700_000_000_001, reason: .size)
        drops.add(0, since: 1, reason: .age)
        let told = drops.tell()
        #expect(told.count == 1)
        let id = told[0].id.uuidString.lowercased()
        #expect(
            told[0].json == #"{"id":"\#(id)","count":5,"since":"2023-11-14T22:13:20.001Z","reason":"size"}"#)
    }
}
