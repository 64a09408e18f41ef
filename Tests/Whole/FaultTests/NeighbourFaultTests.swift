import Compression
import Foundation
import Postgres
import ServiceRuntime
import TestSupport
import Testing

@Suite("An app with a neighbour that wants everything")
struct NeighbourFaultTests {
    /// 8 KiB on the wire, 8 MiB unpacked, and no event.
    private static let padding = gzip(
        Array(#"{"events":[],"x":["#.utf8) + Array(repeatElement(Array("1,".utf8), count: 4_190_000).joined())
            + Array("1]}".utf8))

    /// As much as is still read at once, and a hundredth of it on the wire.
    private static let smallPadding = gzip(
        Array(#"{"events":[],"x":["#.utf8) + Array(repeatElement(Array("1,".utf8), count: 32_000).joined())
            + Array("1]}".utf8))

    /// How long each of so many requests takes, in seconds, the shortest first.
    private func times(_ count: Int, _ request: () throws -> Void) rethrows -> [Double] {
        try (0..<count).map { _ in
            let began = Deadline.now
            try request()
            return Double(Deadline.now.nanoseconds - began.nanoseconds) / 1e9
        }.sorted()
    }

    @Test(
        "thirty connections that send padding without end hold up neither the next app nor health, limit or no limit",
        arguments: [(limit: false, small: false), (true, false), (false, true)])
    func padding(_ limit: Bool, _ small: Bool) throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let (greedy, neighbour) = (try database.makeApp("greedy"), try database.makeApp("neighbour"))
        let bellwether = try Bellwether(database)
        if limit { _ = try bellwether.trusted("app", "set", "greedy", "--rate-limit", "1", "--rate-burst", "1") }
        let service = try bellwether.serve()
        defer { _ = try? service.stop() }
        let client = service.client()
        func post() throws {
            let answer = try client.post(Wire.envelope(Wire.event()), key: neighbour.secret)
            #expect(answer.status == 200, "\(answer)")
        }
        try post()
        let alone = try times(50, post)

        let body = small ? Self.smallPadding : Self.padding
        let answers = Lock([Int: Int]())
        let isOver = Lock(false)
        let attackers = (0..<30).map { number in
            Worker(name: "attacker-\(number)") {
                let client = service.client()
                while !isOver.withLock({ $0 }) {
                    let status = try? client.post(body, key: greedy.secret, headers: ["Content-Encoding": "gzip"])
                        .status
                    answers.withLockNotifying { $0[status ?? 0, default: 0] += 1 }
                    // Who is turned away comes again soon.
                    if status != 200 { _ = isOver.wait(until: .after(seconds: 0.05)) { $0 ? true : nil } }
                }
            }
        }
        defer {
            isOver.withLockNotifying { $0 = true }
            for attacker in attackers { attacker.join() }
        }
        // All of them have begun.
        _ = answers.wait(until: .after(seconds: 60)) { $0.values.reduce(0, +) > 0 ? true : nil }
        let beside = try times(100, post)
        let health = try times(20) {
            for path in ["/healthz", "/readyz", "/metrics"] {
                let answer = try client.get(path)
                #expect(answer.status == 200, "\(answer)")
            }
        }
        let seen = answers.withLock { $0 }
        FaultLength.report(
            "30 connections of padding (\(small ? "64 KiB" : "8 MiB"), \(limit ? "limited" : "no limit")): a neighbour's envelope "
                + "\(beside[50]) s in the middle, \(beside[98]) s at the 99th percentile, alone \(alone[25]) and \(alone[48]); "
                + "health, readiness and metrics \(health[10]) s; their answers \(seen)")
        // On a machine with other work only what is out of all proportion is wrong.
        #expect(
            beside[90] < 2 * alone[45] + 0.5 && beside[98] < 2, "\(beside[90]), \(beside[98]) s; alone \(alone[45])")
        #expect(health[18] < 0.5, "\(health)")
        #expect(seen.keys.allSatisfy { [200, 429, 503].contains($0) }, "\(seen)")
        if limit { #expect(seen[429, default: 0] > 0 && seen[200, default: 0] <= 3, "\(seen)") }
    }

    @Test("while commits stall, an app that fills the queue leaves room for the next one")
    func queue() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let (greedy, neighbour) = (try database.makeApp("greedy"), try database.makeApp("neighbour"))
        let service = try Bellwether(database).serve("--queue-bytes", "1000000")
        defer { _ = try? service.stop() }
        var blocker = try database.connect()
        try blocker.execute(script: "BEGIN; LOCK TABLE log.batch IN ACCESS EXCLUSIVE MODE")
        let body = Wire.envelope((0..<100).map { _ in Wire.event() })
        var waiting: [RawClient] = []
        var refusal: RawClient.Answer?
        while refusal == nil, waiting.count < 100 {
            let (client, answer) = try service.offer(body, key: greedy.secret)
            refusal = answer
            if answer == nil { waiting.append(client) }
        }
        #expect(refusal?.status == 503 && refusal?.problem?.code == "overloaded", "\(String(describing: refusal))")
        let (second, answer) = try service.offer(body, key: neighbour.secret)
        #expect(answer == nil && !second.hasUnread, "it waits, and is not turned away")
        try blocker.execute(script: "COMMIT")
        #expect(try second.answer(within: 30).results.accepted == 100)
        let first = try waiting[0].answer(within: 30).results
        #expect(first.accepted + first.duplicate == 100)
    }
}
