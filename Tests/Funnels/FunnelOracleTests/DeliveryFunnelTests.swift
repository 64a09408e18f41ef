import FunnelOracle
import Telemetry
import Testing

@Suite("Funnels of deliveries: category, thread, version, silent, media")
struct DeliveryFunnelTests {
    /// Seven deliveries of one category and one of another.
    private var deliveries: [StoredEvent] {
        let read = Example("read", thread: "promo")
        let tapped = Example("tapped", thread: "promo")
        let inferred = Example("inferred")
        let story = Example("story")
        let dismissed = Example("dismissed")
        let both = Example("both")
        let ignored = Example("ignored")
        let other = Example("other", category: "OTHER")
        return [
            read.event(.media(.attached)), read.event(.open, 5), read.event(.open, 9), read.event(.dismissed, 10),
            tapped.event(.receipt), tapped.event(.items(7), 1), tapped.event(.items(4), 2), tapped.event(.expanded, 3),
            tapped.event(.tap("YES"), 4),
            inferred.event(.open, appVersion: "4.10.0"),
            story.event(.media(.prefetched)), story.event(.start(2), 1), story.event(.click(0), 2),
            dismissed.event(.dismissed),
            both.event(.receipt), both.event(.open, 1), both.event(.tap("YES"), 2),
            ignored.event(.foreground([])),
            other.event(.receipt),
        ]
    }

    @Test("the category funnel counts each delivery once in each column that it has")
    func category() throws {
        let rows = try funnels(deliveries).categories
        #expect(
            rows.map { "\($0.key.app) \($0.key.day) \($0.key.category)" } == [
                "shop 2026-03-10 NEWS", "shop 2026-03-10 OTHER",
            ])
        #expect(
            counts(rows[0]) == [
                "delivered": 7, "received": 5, "inferred": 2, "expanded": 2, "opened": 3, "action_tapped": 2,
                "story_action_tapped": 1, "responded": 5, "received_responded": 4, "dismissed": 2, "unanswered": 1,
                "suppressed": 1, "media_attached": 2,
            ])
        #expect(counts(rows[1]) == ["delivered": 1, "received": 1, "unanswered": 1])
        #expect(rows[0].counts.responseRate.value == 4.0 / 5)
        #expect(rows[0].counts.receiptCoverage.value == 5.0 / 7)
        #expect(rows[1].counts.responseRate.value == 0)
    }

    @Test("a rate whose base is 0 is null")
    func nullRate() throws {
        let inferred = try funnels([Example().event(.open)]).categories[0]
        #expect(inferred.counts.responseRate.value == nil)
        #expect(inferred.counts.receiptCoverage.value == 0)
        let story = try funnels([Example().event(.fallback), Example().event(.click(1), 1)])
        #expect(story.stories[0].completionRate.value == nil)
        #expect(story.stories[0].fallbackRate.value == 0)
        #expect(story.pages[0].clickRate.value == nil)
        #expect(story.pages[0].meanDwellSeconds.value == nil)
    }

    @Test("the thread funnel has the same columns, and the sum of each delivery's greatest summary count, 1 where none")
    func thread() throws {
        let rows = try funnels(deliveries).threads
        #expect(rows.map(\.key.thread) == ["", "promo"])
        #expect(rows.map(\.items) == [6, 8])
        #expect(rows.map(\.counts.delivered) == [6, 2])
        let promo = counts(rows[1])
        #expect(
            promo == [
                "delivered": 2, "received": 2, "expanded": 1, "opened": 1, "action_tapped": 1, "responded": 2,
                "received_responded": 2, "dismissed": 1, "media_attached": 1, "items": 8,
            ])
        #expect(try funnels([Example().event(.items(0))]).threads[0].items == 0)
        #expect(try funnels([Example().event(.items(0)), Example().event(.items(2), 1)]).threads[0].items == 2)
    }

    @Test("the version funnel has the same columns by platform and app version")
    func version() throws {
        let rows = try funnels(deliveries).versions
        #expect(rows.map { "\($0.key.platform) \($0.key.appVersion)" } == ["ios 4.10.0", "ios 4.2.0"])
        #expect(counts(rows[0]) == ["delivered": 1, "inferred": 1, "opened": 1, "responded": 1])
        #expect(rows[1].counts.delivered == 7)
    }

    @Test("the silent funnel counts silent deliveries by their last fetch result, and no other funnel counts them")
    func silent() throws {
        let one = Example("1", thread: "t", campaign: "c")
        let two = Example("2", campaign: "c")
        let three = Example("3", campaign: "c")
        let four = Example("4", campaign: "c")
        let five = Example("5")
        let funnels = try funnels([
            one.event(.silent(.failed)), one.event(.silent(.newData), 1), one.event(.silent(), 2),
            two.event(.silent(.noData)), three.event(.silent(.noData)), three.event(.silent(.failed), 0, seq: 1),
            four.event(.silent()), five.event(.silent(.noData)),
            five.event(.received(Receipt(via: .background, media: Media(outcome: .attached))), 1),
        ])
        #expect(funnels.silent.map(\.key.campaign) == ["", "c"])
        #expect(counts(funnels.silent[0]) == ["woken": 1, "no_data": 1])
        #expect(counts(funnels.silent[1]) == ["woken": 4, "new_data": 1, "no_data": 1, "failed": 1, "no_result": 1])
        #expect(funnels.categories.isEmpty && funnels.threads.isEmpty && funnels.versions.isEmpty)
        #expect(funnels.media.isEmpty && funnels.deliveries.count == 5)
    }

    @Test("a silent push that turns out visible leaves the silent funnel for the others")
    func silentTurnsVisible() throws {
        let push = Example(campaign: "c")
        let later = try funnels([push.event(.silent(.newData)), push.event(.open, 60)])
        #expect(later.silent.isEmpty)
        #expect(
            counts(later.categories[0]) == [
                "delivered": 1, "received": 1, "opened": 1, "responded": 1, "received_responded": 1,
            ])
    }

    @Test("the media funnel goes by the first event with an outcome; media_attached by any")
    func media() throws {
        let failed = Example("1")
        let none = Example("2")
        let unknown = Example("3")
        let funnels = try funnels([
            failed.event(.media(nil, kind: .audio, network: .other)),
            failed.event(.media(.failed, network: .cellular), 1),
            failed.event(.media(.attached, kind: .image, network: .wifi), 2), failed.event(.open, 3),
            none.event(.media(.noMedia)), unknown.event(.media(nil, kind: .video)),
        ])
        #expect(
            funnels.media.map { "'\($0.key.kind)' '\($0.key.network)' '\($0.key.outcome)'" }
                == ["'' '' 'none'", "'' 'cellular' 'failed'"])
        #expect(counts(funnels.media[0]) == ["deliveries": 1, "received": 1])
        #expect(
            counts(funnels.media[1]) == ["deliveries": 1, "responded": 1, "received": 1, "received_responded": 1])
        #expect(funnels.categories[0].counts.mediaAttached == 1)
        #expect(funnels.categories[0].counts.delivered == 3)
    }
}
