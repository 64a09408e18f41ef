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

    @Test(
        "the thread that serves all decodes for an app a little at a time, for another one still, and for all not too much"
    )
    func budget() {
        let now = Lock(Int64(0))
        func pass(_ milliseconds: Int64) { now.withLock { $0 += milliseconds * 1_000_000 } }
        let budget = InlineBudget(milliseconds: 20, shareOfOne: 0.1, shareOfAll: 0.5) {
            Deadline(nanoseconds: now.withLock { $0 })
        }
        func isDone(of app: Int32, taking milliseconds: Int64) -> Bool {
            budget.spend(of: app) { pass(milliseconds) }
        }
        #expect(isDone(of: 1, taking: 15) && isDone(of: 1, taking: 15))
        // It is in debt; and all together have 5 ms left, which the next one overdraws.
        #expect(!isDone(of: 1, taking: 0) && isDone(of: 2, taking: 15) && !isDone(of: 3, taking: 0))
        pass(20)
        #expect(!isDone(of: 1, taking: 0) && isDone(of: 3, taking: 1))
        pass(80)
        #expect(isDone(of: 1, taking: 0))
    }
}
