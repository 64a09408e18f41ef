import CatalogueSupport
import Envelopes
import Simulation
import Telemetry
import Testing
import Values

@Suite("A simulated app")
struct WorldTests {
    private func bytes(seed: UInt64, installs: Int = 60) -> [[UInt8]] {
        var world = World(
            .shop, seed: seed, installs: installs, from: Fortnight.start, lastDay: Fortnight.lastDay)
        return world.advance(to: Fortnight.start + 3 * Fortnight.day).map { $0.body(sentAt: $0.time) }
    }

    @Test("sends the same bytes for the same seed, and others for another")
    func seeded() {
        let first = bytes(seed: 1)
        #expect(first.count > 100)
        #expect(first == bytes(seed: 1))
        #expect(first != bytes(seed: 2))
    }

    @Test("sends the same however time is cut into pieces")
    func pieces() {
        var world = World(.shop, seed: 1, installs: 60, from: Fortnight.start, lastDay: Fortnight.lastDay)
        var sent: [[UInt8]] = []
        var time = Fortnight.start
        while time < Fortnight.start + 3 * Fortnight.day {
            time = min(time + 431_000_000, Fortnight.start + 3 * Fortnight.day)
            sent += world.advance(to: time).map { $0.body(sentAt: $0.time) }
        }
        #expect(sent == bytes(seed: 1))
    }

    @Test("is understood by the service, but for what is meant to be wrong", arguments: [Fortnight.news, .shop])
    func valid(app: Fortnight) throws {
        #expect(app.decoded.count == app.envelopes.count)
        var reasons: Set<RejectionReason> = []
        for (sent, read) in zip(app.envelopes, app.decoded) {
            #expect(read.items.count == sent.events)
            #expect(read.sentAt != nil && read.invalidDrops.isEmpty)
            for (place, item) in read.items.enumerated() {
                guard case .rejected(_, _, let rejection) = item else {
                    #expect(sent.faults[place] == nil)
                    continue
                }
                #expect(sent.faults[place] == rejection.reason, "\(rejection)")
                reasons.insert(rejection.reason)
            }
        }
        #expect(reasons.count >= 4)
        #expect(app.decoded.contains { !$0.drops.isEmpty })
    }

    @Test("says how many of the events it sends again", arguments: [Fortnight.news, .shop])
    func repeats(app: Fortnight) {
        #expect(app.repeated > 100)
        #expect(app.envelopes.reduce(0) { $0 + $1.repeated } == app.repeated)
    }

    @Test("sends in order of time, and nothing before it has happened", arguments: [Fortnight.news, .shop])
    func order(app: Fortnight) {
        #expect(zip(app.envelopes, app.envelopes.dropFirst()).allSatisfy { $0.time <= $1.time })
        let early = app.events.count { $0.timeSource == .device && $0.occurredAt > $0.receivedAt + 2_000_000 }
        #expect(early == 0)
    }

    @Test(
        "has late events, wrong clocks, clocks ahead, and three spellings of message ids",
        arguments: [Fortnight.news, .shop])
    func trouble(app: Fortnight) {
        let late = app.events.count { $0.receivedAt - $0.occurredAt > Fortnight.day }
        #expect((100...app.events.count / 10).contains(late), "\(late) of \(app.events.count)")
        #expect(app.events.contains { $0.receivedAt - $0.occurredAt > 3 * Fortnight.day })
        for source in [TimeSource.corrected, .clamped] {
            #expect((1...app.events.count / 20).contains(app.events.count { $0.timeSource == source }))
        }
        let ids = app.events.compactMap(\.notification.fcmMessageID)
        #expect(ids.contains { $0.hasPrefix("0:") })
        #expect(ids.contains { $0.hasPrefix("projects/") })
        #expect(ids.contains { Int64($0) != nil })
        #expect(app.events.contains { $0.extra != nil })
    }

    @Test("has notifications that the app made itself, each with an id of its own though the request's repeats")
    func local() {
        let own = Fortnight.news.events.filter { $0.notification.origin == .local }
        #expect(own.count > 20)
        #expect(Set(own.map(\.notification.id)) == ["reading-reminder"])
        #expect(own.allSatisfy { $0.notification.deliveryID != nil && $0.notification.fcmMessageID == nil })
    }

    @Test("at an even rate, each push is heard of at once, mostly")
    func steady() {
        var world = World(steady: .news, seed: 3, installs: 500, from: Fortnight.start)
        for _ in 0..<1000 { world.push() }
        let events = world.advance(to: Fortnight.start + 60_000_000).reduce(0) { $0 + $1.events }
        #expect((600...2500).contains(events), "\(events)")
    }
}
