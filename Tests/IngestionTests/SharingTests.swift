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
