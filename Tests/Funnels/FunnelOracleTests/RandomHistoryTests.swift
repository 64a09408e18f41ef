import FunnelOracle
import Telemetry
import Testing
import Values

@Suite("Laws on random histories")
struct RandomHistoryTests {
    private static let histories: [(history: RandomHistory, funnels: Funnels)] = (0..<2_000).map { (seed: UInt64) in
        let history = RandomHistory(seed: seed)
        return (history, history.funnels)
    }

    @Test("the laws of the contract hold")
    func laws() {
        for (history, funnels) in Self.histories {
            #expect(FunnelLaws.broken(by: funnels.tables) == [], "seed \(history.seed)")
        }
    }

    @Test("neither order nor repeats make a difference")
    func order() {
        for (history, funnels) in Self.histories where history.seed % 3 == 0 {
            var random = SeededNumbers(seed: history.seed)
            let again = (history.events + history.events.shuffled(using: &random).prefix(5)).shuffled(using: &random)
            let other = Oracle.funnels(of: again, timeZone: history.timeZone)
            #expect(funnels.differences(in: other) == [], "seed \(history.seed)")
        }
    }

    @Test("category, thread and version funnels count the same deliveries, and the flags sum to them")
    func totals() {
        for (history, funnels) in Self.histories {
            let totals = [
                sums(funnels.categories.map(\.counts)), sums(funnels.threads.map(\.counts)),
                sums(funnels.versions.map(\.counts)),
                sums(of: funnels.deliveries.map(\.facts)),
            ]
            #expect(Set(totals).count == 1, "seed \(history.seed): \(totals)")
            #expect(funnels.silent.reduce(0) { $0 + $1.woken } == funnels.deliveries.count { $0.facts.silent })
        }
    }

    @Test("apps, installs and deliveries do not touch each other: funnels of parts are the parts of the funnels")
    func parts() {
        for (history, funnels) in Self.histories where history.seed % 8 == 1 {
            for app in history.timeZoneNames.keys {
                let part = Oracle.funnels(of: history.events.filter { $0.app == app }, timeZone: history.timeZone)
                #expect(part.categories == funnels.categories.filter { $0.key.app.text == app })
                #expect(part.pages == funnels.pages.filter { $0.key.story.app.text == app })
            }
            let installs = Set(history.events.map(\.event.source.installID))
            let apart = installs.map { install in
                Oracle.funnels(
                    of: history.events.filter { $0.event.source.installID == install }, timeZone: history.timeZone)
            }
            #expect(sums(apart.flatMap(\.categories).map(\.counts)) == sums(funnels.categories.map(\.counts)))
            #expect(total(apart.flatMap(\.pages)) == total(funnels.pages))
            #expect(total(apart.flatMap(\.actions)) == total(funnels.actions))
        }
    }

    @Test("two events never share an identity, and repeats are unchanged")
    func identities() {
        for (history, _) in Self.histories {
            for copies in Dictionary(grouping: history.events, by: \.identity).values where copies.count > 1 {
                let contents = Set(
                    copies.map { "\($0.event.interaction) \($0.event.notification) \($0.event.occurredAt)" })
                #expect(contents.count == 1, "seed \(history.seed)")
            }
        }
    }

    @Test("a history is the same for the same seed, and others for others")
    func reproducible() {
        for seed in 0..<50 as Range<UInt64> {
            let one = RandomHistory(seed: seed)
            let two = RandomHistory(seed: seed)
            #expect(one.events.map(\.identity) == two.events.map(\.identity))
            #expect(one.timeZoneNames == two.timeZoneNames)
            #expect(one.funnels.tables.map(\.rows) == two.funnels.tables.map(\.rows))
            #expect(one.events.map(\.identity) != RandomHistory(seed: seed + 50).events.map(\.identity))
        }
    }

    @Test("the histories hold what makes funnels hard")
    func coverage() {
        var found: [String: Int] = [:]
        for (history, funnels) in Self.histories {
            for trait in traits(of: history, funnels) { found[trait, default: 0] += 1 }
        }
        let expected: [String: Int] = [
            "repeat": 500, "several apps": 500, "several spellings": 100, "same moment": 500, "same id twice": 100,
            "dated before the receipt": 100, "moved across midnight": 50, "conflicting categories": 300,
            "silent": 200, "silent turned visible": 50, "suppressed": 50, "clicked": 50, "finished": 50,
            "fallback": 50, "abandoned": 50, "over 1,000 story events": 5, "timed tap": 50, "untimed tap": 50,
            "media contradicts": 50, "page without dwell": 100, "auto advance": 100, "manual advance": 100,
            "untold advance": 50,
            "told at the edge of 0.4 s": 20, "exposed by a tap alone": 50, "corrected": 100, "clamped": 100,
            "clock change": 100,
        ]
        for (trait, times) in expected {
            #expect(found[trait, default: 0] >= times, "\(trait): \(found[trait, default: 0])")
        }
    }

    private func traits(of history: RandomHistory, _ funnels: Funnels) -> Set<String> {
        var traits: Set<String> = []
        func note(_ trait: String, _ holds: Bool) { if holds { traits.insert(trait) } }
        note("repeat", Set(history.events.map(\.identity)).count < history.events.count)
        note("several apps", Set(history.events.map(\.app)).count > 1)
        note("corrected", history.events.contains { $0.event.timeSource == .corrected })
        note("clamped", history.events.contains { $0.event.timeSource == .clamped })
        note("silent", !funnels.silent.isEmpty)
        note("suppressed", funnels.categories.contains { $0.counts.suppressed > 0 })
        note("timed tap", funnels.actions.contains { $0.timed > 0 })
        note("untimed tap", funnels.actions.contains { $0.timed < $0.tappedDeliveries })
        note("page without dwell", funnels.pages.contains { $0.dwells < $0.views })
        note("auto advance", funnels.advances.contains { $0.auto > 0 })
        note("manual advance", funnels.advances.contains { $0.manual > 0 })
        note("untold advance", !funnels.gaps.isEmpty)
        note(
            "exposed by a tap alone",
            funnels.exposures.contains { row in
                funnels.categories.contains { $0.key == row.key && $0.counts.expanded < row.exposed }
            })
        for row in funnels.deliveries {
            if let exit = row.facts.story?.exit { note(exit.rawValue, true) }
        }
        for delivery in Delivery.all(in: history.events, timeZone: history.timeZone) {
            let events = delivery.events
            let zone = history.timeZone(of: delivery.name.app.text)
            note("several spellings", Set(events.compactMap(\.notification.fcmMessageID)).count > 1)
            note("same moment", Set(events.map(\.occurredAt)).count < events.count)
            note("same id twice", Set(events.map(\.id)).count < events.count)
            note("conflicting categories", Set(events.compactMap(\.notification.category)).count > 1)
            note(
                "over 1,000 story events", events.count { $0.type.rawValue >= EventType.storyStarted.rawValue } > 1_000)
            for (shown, next) in zip(events, events.dropFirst()) {
                guard case .pageShown(let page) = shown.interaction, let declared = page.declaredMS,
                    case .pageShown(let turned) = next.interaction, turned.cause == nil,
                    turned.pageIndex > page.pageIndex, declared < 60_000
                else { continue }
                let distance = abs(next.occurredAt - shown.occurredAt - declared * 1_000)
                note("told at the edge of 0.4 s", (400_000...400_001).contains(distance))
            }
            let receipts = events.compactMap { event -> Receipt? in
                if case .received(let receipt) = event.interaction { receipt } else { nil }
            }
            note("media contradicts", Set(receipts.compactMap(\.media?.outcome)).count > 1)
            note("silent turned visible", !delivery.facts.silent && receipts.contains { $0.via == .background })
            let receipt = events.firstIndex { $0.type == .notificationReceived }
            note("dated before the receipt", receipt.map { $0 > 0 } ?? false)
            if let first = events.first, let receipt {
                note(
                    "moved across midnight", first.occurredAt.day(in: zone) != events[receipt].occurredAt.day(in: zone))
            }
            let last = events[events.count - 1].occurredAt
            note("clock change", zone.offset(at: events[0].occurredAt) != zone.offset(at: last))
        }
        return traits
    }

    private func sums(_ counts: [DeliveryCounts]) -> [Int] {
        [
            counts.map(\.delivered), counts.map(\.received), counts.map(\.expanded), counts.map(\.opened),
            counts.map(\.actionTapped), counts.map(\.storyActionTapped), counts.map(\.responded),
            counts.map(\.receivedResponded), counts.map(\.dismissed), counts.map(\.unanswered),
            counts.map(\.suppressed), counts.map(\.mediaAttached),
        ].map { $0.reduce(0, +) }
    }

    private func sums(of facts: [DeliveryFacts]) -> [Int] {
        [
            facts.count { !$0.silent }, facts.count(where: \.received), facts.count(where: \.expanded),
            facts.count(where: \.opened), facts.count(where: \.actionTapped), facts.count(where: \.storyActionTapped),
            facts.count(where: \.responded), facts.count(where: \.receivedResponded), facts.count(where: \.dismissed),
            facts.count(where: \.unanswered), facts.count(where: \.suppressed), facts.count(where: \.mediaAttached),
        ]
    }

    private func total(_ rows: [some FunnelRow]) -> [String: Int64] {
        rows.reduce(into: [:]) { $0.merge(counts($1), uniquingKeysWith: +) }
    }
}
