import Simulation
import Telemetry
import Testing
import Values

@Suite("What simulated people do")
struct BehaviourTests {
    private let news = Fortnight.news
    private let shop = Fortnight.shop

    @Test("buttons are tapped at very different rates, and one of them never")
    func buttons() {
        let taps = news.taps("BREAKING_NEWS").mapValues(\.count)
        #expect(Set(taps.keys) == ["READ", "SAVE", "SHARE"])
        #expect(taps["READ", default: 0] > 2 * taps["SHARE", default: 0])
        let neighbours = news.taps("BREAKING_NEWS").values.joined().map(\.interaction)
        for case .actionTapped(let tap) in neighbours { #expect(tap.actionCount == 4) }
        #expect(shop.taps("ORDER_UPDATE")["HELP"] == nil)
        #expect(shop.taps("ORDER_UPDATE").count == 3)
    }

    @Test(
        "one button has not been tapped for a week",
        arguments: [(Fortnight.news, "LIVE_MATCH", "FOLLOW"), (.shop, "CART_REMINDER", "LATER")])
    func forgotten(app: Fortnight, category: String, button: String) throws {
        let taps = try #require(app.taps(category)[button])
        let last = try #require(taps.map(\.occurredAt).max())
        #expect(taps.count > 10)
        #expect(last < Fortnight.lastDay + -7 * Fortnight.day)
        #expect(app.taps(category).values.joined().contains { $0.occurredAt > Fortnight.lastDay + -Fortnight.day })
    }

    @Test("some respond, most do not, and categories differ", arguments: [Fortnight.news, .shop])
    func response(app: Fortnight) {
        func rate(_ category: String?) -> Double {
            let deliveries = app.deliveries(category)
            let responded = deliveries.count { events in
                events.contains { [.notificationOpened, .actionTapped, .storyActionTapped].contains($0.type) }
            }
            return Double(responded) / Double(deliveries.count)
        }
        #expect((0.04...0.25).contains(rate(nil)))
        if app.taps("ORDER_UPDATE").isEmpty {
            #expect(rate("BREAKING_NEWS") > rate("DAILY_DIGEST"))
        } else {
            #expect(rate("ORDER_UPDATE") > 2 * rate("FLASH_SALE"))
        }
    }

    @Test(
        "some turn notifications off, the app says so when it is next in front, and nothing is shown to them until they turn them on",
        arguments: [Fortnight.news, .shop])
    func muted(app: Fortnight) {
        let changes = Dictionary(grouping: app.events.filter { $0.type == .permissionChanged }, by: \.source.installID)
            .mapValues { $0.sorted { $0.occurredAt < $1.occurredAt } }
        var (off, on) = (0, 0)
        for (install, changes) in changes {
            for (place, change) in changes.enumerated() {
                guard case .permissionChanged(let to, let from) = change.interaction else { continue }
                #expect(change.source.authorization == to)
                // Some had been denied since the app was installed.
                guard to == .denied else {
                    on += 1
                    #expect(to == .authorized && from == .denied)
                    continue
                }
                off += 1
                #expect(from != .denied)
                let end = place + 1 < changes.count ? changes[place + 1].occurredAt : Fortnight.end
                let shown = app.events.filter {
                    $0.source.installID == install && $0.occurredAt > change.occurredAt + Fortnight.day
                        && $0.occurredAt < end && $0.type == .notificationReceived && $0.notification.alert == true
                }
                #expect(shown.isEmpty)
            }
        }
        #expect((3...60).contains(off) && (3...40).contains(on), "\(off) off, \(on) on")
    }

    @Test("dismissals are told only where the category asks for them")
    func dismissals() {
        let categories = Set(
            (news.events + shop.events).filter { $0.type == .notificationDismissed }.map(\.notification.category))
        #expect(categories == ["BREAKING_NEWS", "FLASH_SALE", "ORDER_UPDATE"])
    }

    @Test(
        "films time out more often than pictures, and more often where there is no Wi-Fi",
        arguments: [Fortnight.news, .shop])
    func media(app: Fortnight) {
        var outcomes: [String: (all: Int, timedOut: Int)] = [:]
        for event in app.events {
            guard case .received(let receipt) = event.interaction, let media = receipt.media, let kind = media.kind,
                let network = media.network
            else { continue }
            outcomes["\(kind.wire) \(network.wire)", default: (0, 0)].all += 1
            if media.outcome == .timedOut { outcomes["\(kind.wire) \(network.wire)", default: (0, 0)].timedOut += 1 }
        }
        func share(_ name: String) -> Double {
            outcomes[name].map { Double($0.timedOut) / Double($0.all) } ?? -1
        }
        #expect(share("image wifi") >= 0)
        #expect(share("image cellular") > share("image wifi"))
        #expect(share("video wifi") > share("image wifi"))
        #expect(share("video cellular") > share("video wifi"))
    }

    @Test(
        "a story loses people page by page, ends in each way, and falls back more often in an old version",
        arguments: [Fortnight.news, .shop])
    func stories(app: Fortnight) {
        var furthest: [Int: Int] = [:]
        var ends: [EventType: Int] = [:]
        var fallbacks: [String: (all: Int, fallback: Int)] = [:]
        for events in app.deliveries("PW_STORIES") {
            let story = events.filter {
                ![.notificationReceived, .notificationExpanded, .notificationOpened].contains($0.type)
            }
            guard let first = story.first else { continue }
            for type in Set(story.map(\.type)) { ends[type, default: 0] += 1 }
            let pages = story.compactMap { event -> Int? in
                if case .pageShown(let page) = event.interaction { Int(page.pageIndex) } else { nil }
            }
            if let page = pages.max() { for reached in 0...page { furthest[reached, default: 0] += 1 } }
            let version = first.source.appVersion ?? ""
            fallbacks[version, default: (0, 0)].all += 1
            if story.contains(where: { $0.type == .storyFallbackShown }) {
                fallbacks[version, default: (0, 0)].fallback += 1
            }
        }
        let ladder = furthest.sorted { $0.key < $1.key }.map(\.value)
        #expect(ladder.count >= 5)
        #expect(zip(ladder, ladder.dropFirst()).allSatisfy { $0 > $1 })
        #expect(ends[.storyFinished, default: 0] > 50)
        #expect(ends[.storyActionTapped, default: 0] > 50)
        #expect(ends[.storyFallbackShown, default: 0] > 20)
        let versions = fallbacks.keys.sorted()
        let shares = versions.map { Double(fallbacks[$0]?.fallback ?? 0) / Double(fallbacks[$0]?.all ?? 1) }
        #expect(shares[0] > 2 * shares[2], "\(versions) \(shares)")
    }

    @Test("silent pushes end in each way, and the app in front hides some")
    func quiet() {
        let receipts = news.events.compactMap { event -> Receipt? in
            if case .received(let receipt) = event.interaction { receipt } else { nil }
        }
        #expect(Set(receipts.filter { $0.via == .background }.map(\.fetchResult)) == [.newData, .noData, .failed, nil])
        #expect(Set(receipts.map(\.via)) == [.serviceExtension, .foreground, .background, .deliveredList])
        #expect(receipts.contains { $0.presentation == [] })
        #expect(receipts.contains { $0.presentation?.contains(.banner) == true })
    }

    @Test("receipts of one version fail on the last day, and on no other")
    func brokenVersion() throws {
        func coverage(_ days: ClosedRange<Int64>) -> Double {
            let start = Fortnight.start + days.lowerBound * Fortnight.day
            let end = Fortnight.start + (days.upperBound + 1) * Fortnight.day
            let deliveries = news.deliveries().filter { events in
                events.contains { $0.source.appVersion == "4.3.0" && (start..<end).contains($0.occurredAt) }
                    && events.contains { $0.notification.category != nil }
            }
            let received = deliveries.count { $0.contains { $0.type == .notificationReceived } }
            return Double(received) / Double(deliveries.count)
        }
        #expect(coverage(5...13) > 0.97)
        #expect(coverage(14...14) < 0.92)
    }

    @Test("nights are quiet, and installs grow in number")
    func rhythm() {
        let opened = news.events.filter { $0.type == .notificationOpened && $0.source.timeZone == "Europe/Berlin" }
        func hour(_ event: Event) -> Int64 { (event.occurredAt.microseconds / 3_600_000_000 + 1) % 24 }
        let night = opened.count { (0...5).contains(hour($0)) }
        #expect(night * 20 < opened.count)
        func installs(_ day: Int64) -> Int {
            let start = Fortnight.start + day * Fortnight.day
            return Set(
                news.events.filter { (start..<start + Fortnight.day).contains($0.occurredAt) }.map(\.source.installID)
            ).count
        }
        #expect(installs(14) > installs(0))
    }
}
