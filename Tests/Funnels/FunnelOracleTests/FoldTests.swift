import FunnelOracle
import Telemetry
import Testing
import Values

@Suite("The fold of a delivery")
struct FoldTests {
    private func facts(_ events: [StoredEvent], in zone: String = "UTC") throws -> DeliveryFacts {
        let deliveries = try funnels(events, in: zone).deliveries
        try #require(deliveries.count == 1)
        return deliveries[0].facts
    }

    @Test("event order is occurred_at, then seq or 0, then id as bits, then device_at")
    func eventOrder() throws {
        func first(_ events: StoredEvent...) throws -> String { try facts(events).category.text }
        func event(
            _ category: String, _ seconds: Double = 0, seq: Int64? = nil, id: UInt64 = 5, deviceAt: Double? = nil
        ) -> StoredEvent {
            Example(category: category).event(.receipt, seconds, seq: seq, id: id, deviceAt: deviceAt)
        }
        #expect(try first(event("LATER", 1, seq: 1, id: 1), event("EARLIER", 0, seq: 2, id: 2)) == "EARLIER")
        #expect(try first(event("TWO", seq: 2, id: 1), event("ONE", seq: 1, id: 2)) == "ONE")
        #expect(try first(event("ONE", seq: 1, id: 1), event("NONE", id: 2)) == "NONE")
        #expect(try first(event("NONE", id: 2), event("ZERO", seq: 0, id: 1)) == "ZERO")
        #expect(try first(event("HIGH", id: .max), event("LOW", id: 1)) == "LOW")
        #expect(try first(event("SECOND", deviceAt: 9), event("FIRST", deviceAt: 8)) == "FIRST")
    }

    @Test("copies of one (app, install, id, at) are one event, and any of the four makes another")
    func identity() throws {
        let event = Example().event(.tap("YES"), 0, id: 1)
        var otherApp = event
        otherApp.app = "news"
        let otherTime = Example().event(.tap("YES"), 0, id: 1, deviceAt: 1)
        let otherID = Example().event(.tap("YES"), 0, id: 2)
        var elsewhere = Example()
        elsewhere.install = UUID(high: 1, low: 2)
        let otherInstall = elsewhere.event(.tap("YES"), 0, id: 1)
        let all = [event, otherApp, otherTime, otherID, otherInstall]
        let actions = try funnels(all + all + [event]).actions
        #expect(actions.map(\.key.app) == ["news", "shop"])
        #expect(actions.map(\.taps) == [1, 4])
        #expect(actions.map(\.tappedDeliveries) == [1, 2])
    }

    @Test("a delivery is an app, an install and a notification key, whichever spelling an event has")
    func deliveries() throws {
        func event(_ notification: Notification, _ id: UInt64) -> StoredEvent {
            var stored = Example().event(.open, 0, id: id)
            stored.event.notification = notification
            return stored
        }
        let rows = try funnels([
            event(Notification(fcmMessageID: "projects/p/messages/0:123%ab"), 1),
            event(Notification(fcmMessageID: "0:123%ab", deliveryID: "x"), 2),
            event(Notification(fcmMessageID: "123", id: "y"), 3),
            event(Notification(deliveryID: "123", id: "z"), 4), event(Notification(id: "0:123"), 5),
        ]).deliveries
        #expect(rows.map(\.name.notificationKey) == ["0:123", "123"])
    }

    @Test("the day is that of the first event, so an earlier-dated one moves the whole delivery")
    func day() throws {
        let received = Example().event(.receipt, 0)
        let opened = Example().event(.open, 86_400)
        #expect(try facts([opened, received]).day.description == "2026-03-10")
        #expect(try facts([opened]).day.description == "2026-03-11")
        #expect(
            try facts([opened, received, Example().event(.expanded, -43_200.000001)]).day.description == "2026-03-09")
        #expect(try facts([opened, received, Example().event(.expanded, -43_200)]).day.description == "2026-03-10")
    }

    @Test("each attribute is its first non-null value, and none at all is the empty text")
    func attributes() throws {
        let late = Example(category: "LATE", thread: "late", campaign: "late").event(.open, 3, appVersion: "9")
        let middle = Example(category: "MIDDLE", campaign: "middle").event(.open, 2, platform: nil, appVersion: nil)
        let bare = Example(category: nil).event(.receipt, 1, platform: nil, appVersion: nil)
        let all = try facts([late, middle, bare])
        #expect([all.category, all.campaign, all.thread] == ["MIDDLE", "middle", "late"])
        #expect([all.platform, all.appVersion, all.variant, all.origin] == ["ios", "9", "", ""])
        let none = try facts([bare])
        #expect([none.category, none.campaign, none.thread, none.platform, none.appVersion] == ["", "", "", "", ""])

        var named = Example().event(.open, 0)
        named.event.notification.variant = "b"
        named.event.notification.origin = .local
        let facts = try facts([named])
        #expect([facts.variant, facts.origin] == ["b", "local"])
    }

    @Test("texts are one only when their bytes are")
    func bytes() throws {
        let rows = try funnels([
            Example("1", category: "caf\u{e9}").event(.open), Example("2", category: "cafe\u{301}").event(.open),
        ]).categories
        #expect(rows.map { Array($0.key.category.text.utf8.suffix(2)) } == [[0xcc, 0x81], [0xc3, 0xa9]])
    }

    @Test("first and last times are the least and the greatest of each clock")
    func times() throws {
        let facts = try facts([
            Example().event(.receipt, 10, deviceAt: 900), Example().event(.open, 20, deviceAt: 300),
            Example().event(.expanded, 30, deviceAt: 500),
        ])
        #expect(facts.firstOccurredAt == Example.noon + 10_000_000)
        #expect(facts.lastOccurredAt == Example.noon + 30_000_000)
        #expect(facts.firstDeviceAt == Example.noon + 300_000_000)
        #expect(facts.lastDeviceAt == Example.noon + 900_000_000)
    }

    @Test("silent: every event a background receipt, and none with alert true")
    func silent() throws {
        func isSilent(_ events: (Interaction, Bool?)...) throws -> Bool {
            try facts(
                events.enumerated().map { index, event in
                    var example = Example()
                    example.alert = event.1
                    return example.event(event.0, Double(index))
                }
            ).silent
        }
        #expect(try isSilent((.silent(), nil)))
        #expect(try isSilent((.silent(), nil), (.silent(.failed), false)))
        #expect(try !isSilent((.silent(), nil), (.silent(), true)))
        #expect(try !isSilent((.silent(), nil), (.receipt, nil)))
        #expect(try !isSilent((.silent(), nil), (.received(Receipt()), nil)))
        #expect(try !isSilent((.silent(), nil), (.open, nil)))
    }

    @Test("a silent delivery has none of the flags that follow, so that sums of flags are the funnels' columns")
    func silentFlags() throws {
        let facts = try facts([Example().event(.silent()), Example().event(.media(.attached), 1).viaBackground])
        #expect(facts.silent)
        #expect(!facts.received && !facts.unanswered && !facts.mediaAttached && facts.story == nil)
    }

    @Test("responded is opened, action_tapped or story_action_tapped, and nothing else")
    func responded() throws {
        #expect(try facts([Example().event(.open)]).responded)
        #expect(try facts([Example().event(.tap("YES"))]).responded)
        #expect(try facts([Example().event(.click(0))]).responded)
        for other: Interaction in [.receipt, .expanded, .dismissed, .start(1), .page(0), .storyFinished, .fallback] {
            #expect(try !facts([Example().event(other)]).responded)
        }
    }

    @Test("expanded is notification.expanded or any story event")
    func expanded() throws {
        for yes: Interaction in [.expanded, .start(1), .page(0), .click(0), .storyFinished, .fallback] {
            #expect(try facts([Example().event(yes)]).expanded)
        }
        for no: Interaction in [.receipt, .open, .dismissed, .tap("YES")] {
            #expect(try !facts([Example().event(no)]).expanded)
        }
    }

    @Test("suppressed: unanswered, and every foreground receipt gives a presentation without banner, list or alert")
    func suppressed() throws {
        func isSuppressed(_ events: Interaction...) throws -> Bool {
            try facts(events.enumerated().map { Example().event($1, Double($0)) }).suppressed
        }
        #expect(try isSuppressed(.foreground([])))
        #expect(try isSuppressed(.foreground([.sound, .badge])))
        #expect(try isSuppressed(.foreground([]), .foreground([.sound])))
        #expect(try isSuppressed(.receipt, .foreground([])))
        #expect(try isSuppressed(.foreground([]), .expanded))
        #expect(try !isSuppressed(.foreground([]), .foreground([.list])))
        #expect(try !isSuppressed(.foreground([.banner])))
        #expect(try !isSuppressed(.foreground([.sound, .alert])))
        #expect(try !isSuppressed(.foreground(nil)))
        #expect(try !isSuppressed(.foreground([]), .foreground(nil)))
        #expect(try !isSuppressed(.receipt))
        #expect(try !isSuppressed(.foreground([]), .open))
        #expect(try !isSuppressed(.foreground([]), .dismissed))
        // A presentation without the foreground says nothing.
        #expect(try !isSuppressed(.received(Receipt(via: .deliveredList, presentation: []))))
    }

    @Test("the story exit is clicked, else finished, else fallback, else abandoned")
    func storyExit() throws {
        func exit(_ events: Interaction...) throws -> StoryExit? {
            try facts(events.enumerated().map { Example().event($1, Double($0)) }).story?.exit
        }
        #expect(try exit(.start(2), .page(0), .click(0), .storyFinished) == .clicked)
        #expect(try exit(.fallback, .click(0)) == .clicked)
        #expect(try exit(.start(2), .page(0), .storyFinished, .fallback) == .finished)
        #expect(try exit(.fallback, .storyFinished) == .finished)
        #expect(try exit(.fallback) == .fallback)
        #expect(try exit(.receipt, .fallback, .open) == .fallback)
        #expect(try exit(.fallback, .start(1)) == .abandoned)
        #expect(try exit(.fallback, .page(0)) == .abandoned)
        #expect(try exit(.start(2)) == .abandoned)
        #expect(try exit(.receipt, .expanded, .open) == nil)
    }

    @Test("furthest is the greatest page shown or clicked; pages that plus one, or a greater page count")
    func furthest() throws {
        func story(_ events: Interaction...) throws -> [Int?] {
            let story = try #require(try facts(events.enumerated().map { Example().event($1, Double($0)) }).story)
            return [story.furthest, story.pages]
        }
        #expect(try story(.start(5), .page(0), .page(2), .page(1)) == [2, 5])
        #expect(try story(.start(2), .page(0), .click(4)) == [4, 5])
        #expect(try story(.start(2), .start(7), .start(3)) == [nil, 7])
        #expect(try story(.page(3)) == [3, 4])
        #expect(try story(.fallback) == [nil, 0])
    }
}

extension StoredEvent {
    /// The same receipt through the background door.
    fileprivate var viaBackground: StoredEvent {
        var copy = self
        if case .received(var receipt) = event.interaction {
            receipt.via = .background
            copy.event.interaction = .received(receipt)
        }
        return copy
    }
}
