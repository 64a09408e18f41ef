import Foundation
import FunnelOracle
import Postgres
import ServiceRuntime
import TestSupport
import Testing

@Suite("Everything at once, for a while")
struct SoakTests {
    @Test("mixed load, errands and random faults: nothing is lost or doubled, the funnels are right, and nothing grows")
    func soak() throws {
        let household = try Household()
        let url = try #require(household.bellwether.url)
        let proxies = try (0..<2).map { try Storm(before: household, $0) }
        let load = Load(
            Self.crowd, through: [household.door(0), household.door(1)] + proxies.map(\.door), key: household.key,
            seed: SoakLength.seed)
        #expect(load.isServed())
        let connections = try settledConnections(url)
        let mishaps = Mishaps()
        let neighbours = Neighbours(of: household, beside: mishaps, seed: SoakLength.seed)
        let gauge = Gauge(of: household, beside: load, every: max(0.25, SoakLength.seconds / 600))
        // Whatever goes wrong: nobody goes on without us.
        defer {
            neighbours.errands.stop()
            load.stop()
            gauge.stop()
            for proxy in proxies { proxy.stop() }
        }
        neighbours.come(pace: SoakLength.isLong ? 4 : 1)
        let began = Deadline.now
        var numbers = SeededNumbers(seed: SoakLength.seed)
        var deck = Deck()

        // First both services die now and then.
        try run(until: 0.5, since: began, 0..<2, &deck, &numbers, household, load, mishaps)
        // Then one of them lives, through whatever becomes of the database, so that what it holds can be compared.
        let elder = household[0].process.id
        var tables: [[String: Gauge.Table]] = []
        for part in [0.625, 0.75, 0.875, 1] {
            try run(until: part, since: began, 1..<2, &deck, &numbers, household, load, mishaps)
            tables.append(try Gauge.tables(url: try #require(household.bellwether.superuserURL)))
        }
        let seconds = Double(Deadline.now.nanoseconds - began.nanoseconds) / 1e9
        let (events, requests) = (load.events, load.requests)
        neighbours.errands.stop()
        for proxy in proxies { proxy.calm() }
        #expect(load.isServed())
        load.stop()
        gauge.stop()
        // Whoever was killed is gone from PostgreSQL, too, and nobody has more connections than at the beginning.
        #expect(try settledConnections(try #require(household.bellwether.url), atMost: connections) <= connections)

        var account = SoakAccount(seconds: seconds, events: events, requests: requests)
        account.note(load, mishaps, neighbours, proxies)
        account.note(gauge.life(of: elder), gauge.connections, tables, gauge.disk)
        defer { account.tell() }
        account.note(try Laws.check(load, url: try #require(household.bellwether.url)))
        try neighbours.check(url: try #require(household.bellwether.url))
        account.checkFlatness()
        try household.close()
    }

    /// Single events and batches, packed and not, and who does not believe an answer.
    private static let crowd =
        Array(repeating: Load.Habits(sizes: 1...1, pause: 0.03, patience: 0.1, repeats: 0.05), count: 4)
        + Array(repeating: Load.Habits(sizes: 1...5, pause: 0.1, patience: 0.2, packed: 0.5, repeats: 0.1), count: 4)
        + Array(repeating: Load.Habits(sizes: 50...200, pause: 1, patience: 0.5, packed: 0.8, repeats: 0.2), count: 3)

    /// Deals mishaps until this part of the time is over, each when the one before is healed.
    private func run(
        until part: Double, since began: Deadline, _ mortal: Range<Int>, _ deck: inout Deck,
        _ numbers: inout SeededNumbers, _ household: Household, _ load: Load, _ mishaps: Mishaps
    ) throws {
        let end = Deadline(nanoseconds: began.nanoseconds + Int64(part * SoakLength.seconds * 1e9))
        while !end.hasPassed {
            let mishap = deck.deal(&numbers)
            try mishaps.note(mishap) {
                try mishap.happen(to: household, mortal: mortal, &numbers)
                for number in 0..<2 { try household[number].waitUntilReady(within: 120) }
                #expect(load.isServed(), "after \(mishap.rawValue), seed \(SoakLength.seed)")
            }
            let pause = Double.random(in: 0.1...(SoakLength.isLong ? 12 : 0.5), using: &numbers)
            poll(nil, 0, Int32(min(pause, end.secondsLeft) * 1000))
        }
    }

    /// How many connections both services have once neither is about to make one or to lose one: the same twice in a
    /// row.
    private func settledConnections(_ url: String, atMost most: Int64 = .max) throws -> Int64 {
        var connection = try Connection(url: url)
        var last: Int64 = -1
        let isSettled = try eventually {
            connection.deadline = .after(seconds: 60)
            let count = try Gauge.serviceConnections(&connection)
            defer { last = count }
            poll(nil, 0, 500)
            return count == last && count <= most
        }
        #expect(isSettled, "\(last) connections")
        return last
    }
}
