import Foundation
import Testing

@testable import BellwetherClient

@Suite("The courier is patient")
struct CourierPatienceTests {
    @Test("waits double to ten minutes and lie anywhere below, and Retry-After is never undercut")
    func backoff() {
        let backoff = Backoff()
        #expect([1, 2, 3, 9, 10, 1000].map { backoff.ceiling(failures: $0) } == [2, 4, 8, 512, 600, 600])
        let delays = (0..<2000).map { _ in backoff.delay(failures: 5, retryAfter: nil) }
        #expect(delays.allSatisfy { (0...32).contains($0) })
        #expect(delays.contains { $0 < 4 } && delays.contains { $0 > 28 }, "full jitter")
        let asked = (0..<2000).map { _ in backoff.delay(failures: 9, retryAfter: 120) }
        #expect(asked.allSatisfy { (120...150).contains($0) })
        #expect(Set(asked).count > 1900, "not all at the same moment")
    }

    @Test(
        "Retry-After is read as seconds or as a date, against the server's own clock",
        arguments: [
            (["retry-after": "120"], 120.0), (["retry-after": " 0 "], 0), (["retry-after": "-5"], 0),
            (["retry-after": "soon"], nil), ([:], nil),
            // Foundation of Linux ends the process there.
            (["retry-after": "Wed, 21 Oct\u{1B6D} 2015 07:28:30 GMT"], nil),
            // More than an Int of nanoseconds, or of anything, would hold.
            (["retry-after": "9223372036854775807"], 86_400),
            (["retry-after": "Fri, 15 Jan 9999 08:02:00 GMT"], 86_400),
            (
                [
                    "retry-after": "Wed, 21 Oct 2015 07:28:30 GMT", "date": "Wed, 21 Oct 2015 07:28:00 GMT",
                ], 30
            ),
            (["retry-after": "Fri, 15 Jan 2027 08:02:00 GMT"], 120),
            (["retry-after": "Fri, 15 Jan 2016 08:02:00 GMT"], 0),
        ] as [([String: String], Double?)])
    func retryAfter(headers: [String: String], seconds: Double?) {
        let answer = Answer(status: 503, headers: headers)
        #expect(RetryAfter.seconds(in: answer, now: Date(timeIntervalSince1970: 1_800_000_000)) == seconds)
    }

    @Test("Retry-After is kept, within a delivery and by every other process", arguments: [429, 503])
    func notBefore(status: Int) async throws {
        let time = QuickTime()
        let post = Post(time: time, random: { _ in 0 }) { _, number in
            number == 0 ? .status(status, headers: ["retry-after": "100"]) : .well
        }
        try post.record(1)
        let began = time.clock.wall()
        #expect(await post.courier.deliver(within: 10) == .waiting(until: began + 100))
        let other = Post(in: post.scratch, time: time) { _, _ in .well }
        time.pass(50)
        #expect(await other.courier.deliver(within: 20) == .waiting(until: began + 100))
        #expect(other.server.envelopes.count == 0, "an extension that lives for moments does not hammer")
        #expect(await other.courier.deliver(within: 60) == .delivered)
        #expect(time.waits == [50])
        #expect(try post.queue.pace == Pace())
    }

    @Test("a request of another process that was under way ends no wait, and shortens none", arguments: [true, false])
    func underWay(isWell: Bool) async throws {
        let (scratch, time) = (QueueDirectory(inMemory: true), QuickTime())
        let first = Post(in: scratch, time: time, random: { _ in 0 }) { _, _ in
            .status(429, headers: ["retry-after": "600"])
        }
        let began = Guarded<Date?>(nil)
        let second = Post(in: scratch, time: time, random: { _ in 0 }) { _, number in
            guard number == 0 else { return .well }
            time.pass(1)
            began.withLock { $0 = time.clock.wall() }
            _ = await first.courier.deliver(within: 1)
            time.pass(1)
            return isWell ? .well : .status(503)
        }
        try second.record(2)
        let result = await second.courier.deliver(within: 5)
        #expect(first.server.envelopes.count == 1)
        let asked = try #require(began.withLock { $0 })
        if isWell { try second.record(1) } else { #expect(result == .waiting(until: asked + 600)) }
        #expect(await second.courier.deliver(within: 5) == .waiting(until: asked + 600))
        #expect(second.server.envelopes.count == 1)
    }

    @Test("failures add up over processes")
    func failuresAddUp() async throws {
        let (scratch, time) = (QueueDirectory(inMemory: true), QuickTime())
        for round in 1...6 {
            let post = Post(in: scratch, time: time) { _, _ in .unreachable }
            if round == 1 { try post.record(1) }
            let wait = pow(2, Double(round))
            #expect(await post.courier.deliver(within: 0.5) == .waiting(until: time.clock.wall() + wait))
            time.pass(wait)
        }
    }

    @Test("days in airplane mode, with a clock that jumps by years: few tries, nothing lost, order kept")
    func airplane() async throws {
        let (time, isDown) = (QuickTime(), Guarded(true))
        let post = Post(time: time) { _, _ in isDown.withLock { $0 } ? .unreachable : .well }
        for day in 0..<30 {
            try post.record(3)
            for _ in 0..<12 {
                _ = await post.courier.deliver(within: 5)
                time.pass(300)
            }
            time.setClock(by: [10, -10, 0.001, -0.001, 3, -3][day % 6] * 86_400 * 365)
        }
        #expect(post.server.envelopes.count < 250)
        isDown.withLock { $0 = false }
        time.pass(600)
        #expect(await post.courier.deliver(within: 100) == .delivered)
        #expect(post.server.stored == Array(1...90))
        #expect(post.server.drops == [])
    }

    @Test("a clock that was set back by a year does not make it wait for a year")
    func setBack() async throws {
        let post = Post { _, number in number == 0 ? .unreachable : .well }
        try post.record(1)
        _ = await post.courier.deliver(within: 0.5)
        post.time.setClock(by: -86_400 * 365)
        #expect(await post.courier.deliver(within: 0.5) == .delivered)
    }

    @Test("it returns when its time is over, and no request is given more than is left")
    func budget() async throws {
        let time = QuickTime()
        let post = Post(time: time) { envelope, _ in
            time.pass(min(envelope.timeout, 4))
            return .well
        }
        try post.record(3000)
        #expect(await post.courier.deliver(within: 10) == .delivered)
        #expect(post.server.envelopes.map(\.timeout) == [10, 6, 2])
        try post.record(3000)
        #expect(await post.courier.deliver(within: 6) == .outOfTime)
        #expect(post.server.envelopes.count == 5)
        #expect(await post.courier.deliver(within: 0) == .outOfTime)
        #expect(post.server.envelopes.count == 5)
        #expect(await post.courier.deliver(within: 1000) == .delivered)
        #expect(post.server.envelopes.last?.timeout == 60)
        #expect(post.server.stored == Array(1...6000))
    }

    @Test("time that is too short for an answer is nobody's fault, time enough is the server's")
    func tooShort() async throws {
        let time = QuickTime()
        let post = Post(time: time) { envelope, _ in
            time.pass(envelope.timeout)
            return .unreachable
        }
        try post.record(1)
        #expect(await post.courier.deliver(within: 3) == .outOfTime)
        #expect(try post.queue.pace == Pace())
        #expect(await post.courier.deliver(within: 30) == .waiting(until: time.clock.wall() + 2))
    }

    @Test("short budgets on a slow network: each asks for half as much, until something comes through")
    func slowNetwork() async throws {
        let time = QuickTime()
        let post = Post(time: time) { envelope, _ in
            let needed = Double(envelope.seqs.count) / 20
            time.pass(min(needed, envelope.timeout))
            return needed < envelope.timeout ? .well : .unreachable
        }
        try post.record(1000)
        for _ in 0..<40 { _ = await post.courier.deliver(within: 3) }
        #expect(post.server.stored == Array(1...1000))
        #expect(try post.queue.pace == Pace())
    }

    @Test(
        "a network too slow for a full envelope gets smaller ones, whoever loses patience first, and a server that stands still not ever smaller ones",
        arguments: [true, false])
    func tooSlowForAll(isServerFirst: Bool) async throws {
        let time = QuickTime()
        let isDown = Guarded(false)
        let post = Post(time: time) { envelope, _ in
            let needed = isDown.withLock { $0 } ? 1000 : Double(envelope.seqs.count) / 4
            time.pass(min(needed, envelope.timeout))
            return needed < envelope.timeout ? .well : isServerFirst ? .status(408) : .unreachable
        }
        try post.record(1000)
        #expect(await post.courier.deliver(within: 100_000) == .delivered)
        #expect(post.server.stored == Array(1...1000))
        isDown.withLock { $0 = true }
        try post.record(1000)
        _ = await post.courier.deliver(within: 100_000)
        #expect(post.server.envelopes.allSatisfy { $0.seqs.count >= 64 || $0.seqs.last == 1000 })
    }

    @Test("a delivery whose task is cancelled ends soon, blames nobody and loses nothing")
    func cancelled() async throws {
        let began = AsyncStream.makeStream(of: Void.self)
        let post = Post { _, number in
            guard number == 0 else { return .well }
            began.continuation.yield()
            try await Task.sleep(nanoseconds: 60_000_000_000)
            return .well
        }
        try post.record(2)
        let delivery = Task { await post.courier.deliver(within: 1000) }
        for await _ in began.stream { break }
        delivery.cancel()
        #expect(await delivery.value == .outOfTime)
        #expect(try post.queue.pace == Pace())
        #expect(await post.courier.deliver(within: 10) == .delivered)
        #expect(post.server.stored == [1, 2])
    }

    @Test("one delivery at a time: the second waits its turn, and no longer than it has")
    func oneAtATime() async throws {
        let running = Guarded((now: 0, most: 0))
        let post = Post { _, _ in
            running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            for _ in 0..<20 { await Task.yield() }
            running.withLock { $0.now -= 1 }
            return .well
        }
        let real = Courier(
            queue: post.queue, transport: post.server, destination: post.courier.destination, clock: .system)
        try post.record(3000)
        let results = await withTaskGroup(of: DeliveryResult.self) { group in
            for _ in 0..<8 { group.addTask { await real.deliver(within: 600) } }
            return await group.reduce(into: [DeliveryResult]()) { $0.append($1) }
        }
        #expect(results == Array(repeating: .delivered, count: 8))
        #expect(running.withLock { $0.most } == 1)
        #expect(post.server.envelopes.count == 3)
    }

    @Test("a turn that does not come is given up in time, and a cancelled wait leaves no trace")
    func turns() async {
        let turn = Turn()
        let clock = DeviceClock.system
        #expect(await turn.take(within: 0, clock))
        #expect(await !turn.take(within: 0, clock))
        #expect(await !turn.take(within: 0.05, clock))
        let waiting = Task { await turn.take(within: 600, clock) }
        waiting.cancel()
        #expect(await !waiting.value)
        let next = Task { await turn.take(within: 600, clock) }
        turn.give()
        #expect(await next.value)
        turn.give()
        #expect(await turn.take(within: 0, clock))
    }

    @Test("what is recorded is delivered by itself, soon, together, and again when waiting is over")
    func schedule() async throws {
        let post = Post { _, number in number == 1 ? .unreachable : .well }
        let real = Courier(
            queue: post.queue, transport: post.server, destination: post.courier.destination, clock: .system,
            backoff: Backoff(base: 0.4, random: { $0.upperBound }))
        let schedule = Schedule(real, delay: 0.05, budget: 0.2, rest: 0.05)
        for _ in 0..<2 {
            let before = post.server.stored.count
            for _ in 0..<10 {
                try post.record(1)
                schedule.wake()
            }
            while post.server.stored.count < before + 10 { await Task.yield() }
        }
        #expect(post.server.stored == Array(1...20))
        #expect(post.server.envelopes.count <= 6)
        schedule.end()
        try post.record(1)
        schedule.wake()
        #expect(await real.deliver(within: 600) == .delivered, "only when asked")
    }
}
