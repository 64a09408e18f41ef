import EventLog
import ServiceRuntime
import Testing

@testable import Ingestion

@Suite("What apps share")
struct SharingTests {
    @Test("of what waits each app has its turn, and of one app the first comes first")
    func turns() {
        var turns = Turns<String>()
        for number in 0..<4 { turns.append("a\(number)", of: 1) }
        turns.append("b0", of: 2)
        #expect(turns.first == "a0" && turns.next() == "a0")
        turns.append("c0", of: 3)
        turns.append("b1", of: 2)
        var order: [String] = []
        while let next = turns.next() { order.append(next) }
        #expect(order == ["b0", "a1", "c0", "b1", "a2", "a3"])
        #expect(turns.isEmpty && turns.next() == nil)
    }

    @Test("an app may hold as much room as is still free, so there is some for the next one")
    func room() {
        var room = SharedRoom(100)
        #expect((0..<100).filter { _ in room.take(1, of: 1) }.count == 50)
        #expect((0..<100).filter { _ in room.take(1, of: 2) }.count == 25)
        #expect((0..<100).filter { _ in room.take(1, of: 3) }.count == 13)
        #expect(room.used == 88 && !room.take(1, of: 1))
        for _ in 0..<50 { room.give(1, of: 1) }
        #expect(room.used == 38 && room.take(25, of: 2) && !room.take(2, of: 2))
    }

    @Test("an empty room takes what is larger than itself, and nothing beside it")
    func largeInRoom() {
        var room = SharedRoom(10)
        #expect(room.take(11, of: 1) && !room.take(1, of: 2))
        room.give(11, of: 1)
        #expect(room.used == 0 && room.take(5, of: 2))
    }

    @Test("the thread that serves all decodes for an app a little at a time, and for another one still")
    func budget() {
        let milliseconds = Lock<Int64>(0)
        let budget = InlineBudget(
            milliseconds: 20, shareOfOne: 0.05, shareOfAll: 0.2,
            clock: { Deadline(nanoseconds: milliseconds.withLock { $0 } * 1_000_000) })
        func work() { milliseconds.withLock { $0 += 15 } }
        #expect(budget.spend(of: 1, on: work) && budget.spend(of: 1, on: work))
        #expect(!budget.spend(of: 1) { Issue.record("what there was is used up") })
        #expect(!budget.spend(of: 2) { Issue.record("so is what there was for all") })
        // Of the time that goes by, all together get half and one app gets a tenth.
        milliseconds.withLock { $0 += 40 }
        #expect(!budget.spend(of: 1) { Issue.record("an app's share comes back slowly") })
        #expect(budget.spend(of: 2, on: work))
    }
}

@Suite("The rate limit")
struct RateLimiterTests {
    private let limiter = RateLimiter()
    private let limit = RateLimit(eventsPerSecond: 10, burst: 20)
    private let start = Deadline.now

    private func after(_ seconds: Double) -> Deadline {
        Deadline(nanoseconds: start.nanoseconds + Int64(seconds * 1e9))
    }

    @Test("who comes while anything is left may overdraw, and all wait until that is paid back")
    func debt() throws {
        #expect(limiter.wait(of: 1, under: limit, at: start) == nil)
        limiter.take(45, of: 1, under: limit, at: start)
        #expect(try #require(limiter.wait(of: 1, under: limit, at: start)) == 2.6)
        #expect(limiter.wait(of: 1, under: limit, at: after(2.5)) != nil)
        #expect(limiter.wait(of: 1, under: limit, at: after(2.6)) == nil)
        #expect(limiter.wait(of: 2, under: limit, at: start) == nil)
        #expect(limiter.wait(of: 1, under: nil, at: start) == nil)
    }

    @Test("who overdrew by himself goes on, but not when others of the app have used up the rest")
    func besides() {
        limiter.take(45, of: 1, under: limit, at: start)
        #expect(limiter.wait(of: 1, under: limit, besides: 45, at: start) == nil)
        limiter.take(20, of: 1, under: limit, at: start)
        #expect(limiter.wait(of: 1, under: limit, besides: 45, at: start) != nil)
    }

    @Test("what is given back is there again, and never more than the burst")
    func givenBack() {
        limiter.take(25, of: 1, under: limit, at: start)
        limiter.take(-25, of: 1, under: limit, at: start)
        limiter.take(-25, of: 1, under: limit, at: start)
        limiter.take(20, of: 1, under: limit, at: start)
        #expect(limiter.wait(of: 1, under: limit, at: start) != nil)
    }

    @Test(
        "bytes count by each 4 KiB that is begun", arguments: [(0, 1), (1, 1), (4096, 1), (4097, 2), (8 << 20, 2048)])
    func bytes(_ bytes: Int, _ tokens: Int) {
        #expect(RateLimiter.tokens(forBytes: bytes) == tokens)
    }

    @Test("a wait without end is an hour", arguments: [1e300, .infinity, .nan])
    func endless(_ seconds: Double) {
        let headers = Problem(rateLimitedFor: seconds).headers
        #expect(headers.count == 1 && headers[0] == ("Retry-After", "3600"))
    }
}
