import Foundation
import Telemetry
import Testing

@testable import BellwetherClient

@Suite("Stories")
struct StoryTests {
    private let phone = Phone()
    private var adapter: BellwetherClient.Bellwether.StoryAdapter { .init(phone.bellwether) }

    /// A notification with a story whose pages stand so many seconds, behind one page that cannot be shown.
    private func push(_ durations: [TimeInterval], id: String = "s-1") throws -> BellwetherClient.Bellwether.Push {
        let pages = durations.map {
            #"{"image":"https://example.com/1.jpg","duration":\#($0),"link":"shop://sale/1?user=7","button_title":"Buy"}"#
        }
        return try phone.push(
            #"{"pw_msg":"1","p":"\#(id)","pw_stories":{"pages":[{"image":""},\#(pages.joined(separator: ","))]}}"#)
    }

    /// Plays a story and gives its pages with the cause of each, and what else happened.
    private func play(
        _ durations: [TimeInterval], loops: Bool = false, loopsIsKnown: Bool = true, _ script: (Player) -> Void
    ) throws -> [String] {
        let adapter = adapter
        adapter.willShow(try push(durations), loops: loopsIsKnown ? loops : nil)
        let player = Player(phone, adapter, durations: durations, loops: loops)
        player.start()
        script(player)
        return try phone.events().map { event in
            switch event.interaction {
            case .storyStarted(let start): "started \(start.pageCount)"
            case .pageShown(let page): "\(page.pageIndex) \(page.cause?.wire ?? "?")"
            case .storyActionTapped(let tap): "tapped \(tap.pageIndex)"
            case .storyFinished: "finished"
            default: "\(event.interaction)"
            }
        }
    }

    @Test("a story that plays to its end by itself")
    func playsThrough() throws {
        let told = try play([3, 4, 5]) { $0.play(20) }
        #expect(told == ["started 3", "0 initial", "1 auto", "2 auto", "finished"])
        let events = try phone.events()
        #expect(
            events[0].interaction == .storyStarted(StoryStart(pageCount: 3, declaredPageCount: 4, loops: false)))
        #expect(events[1].interaction == .pageShown(PageShown(pageIndex: 0, declaredMS: 3000, cause: .initial)))
        #expect(events.allSatisfy { $0.extra == nil && $0.notificationKey == "s-1" })
    }

    @Test("taps go on and back; back on the first page shows it again")
    func taps() throws {
        let told = try play([5, 5, 5]) { player in
            player.play(1)
            player.tapRight()
            player.play(1)
            player.tapLeft()
            player.play(1)
            player.tapLeft()
            player.play(5)
        }
        #expect(told == ["started 3", "0 initial", "1 next", "0 prev", "0 prev", "1 auto"])
    }

    @Test("it can finish again after somebody went back")
    func finishesAgain() throws {
        let told = try play([2, 2]) { player in
            player.play(10)
            player.tapLeft()
            player.play(10)
        }
        #expect(told == ["started 2", "0 initial", "1 auto", "finished", "0 prev", "1 auto", "finished"])
    }

    @Test("a loop goes on from the last page to the first, by itself or by a tap, without starting anew")
    func loops() throws {
        let told = try play([2, 2, 2], loops: true) { player in
            player.play(6)
            player.play(1)
            player.tapRight()
            player.tapRight()
            player.play(1)
            player.tapRight()
        }
        #expect(
            told == [
                "started 3", "0 initial", "1 auto", "2 auto", "finished", "0 loop", "1 next", "2 next", "0 loop",
            ])
    }

    @Test("in a loop of two pages nobody can tell a tap back from a tap round, so nothing is told of it")
    func shortLoops() throws {
        let told = try play([2, 2], loops: true) { player in
            player.play(4)
            player.tapRight()
            player.play(1)
            player.tapLeft()
        }
        #expect(told == ["started 2", "0 initial", "1 auto", "finished", "0 loop", "1 next", "0 ?"])
    }

    @Test("a single page: back shows it again, a loop shows it anew")
    func singlePage() throws {
        #expect(try play([2]) { $0.tapLeft() } == ["started 1", "0 initial", "0 prev"])
        let looping = try StoryTests().play([2], loops: true, loopsIsKnown: false) { $0.play(4) }
        #expect(looping == ["started 1", "0 initial", "finished", "0 loop", "finished", "0 loop"])
    }

    @Test("a tapped button ends the story without finishing it; of its link scheme and host are told")
    func button() throws {
        let told = try play([2, 2]) { player in
            player.play(2)
            player.tapButton("https://Example.com/sale?user=17")
            player.play(60)
        }
        #expect(told == ["started 2", "0 initial", "1 auto", "tapped 1"])
        #expect(
            try phone.events()[3].interaction
                == .storyActionTapped(StoryActionTap(pageIndex: 1, linkScheme: "https", linkHost: "example.com")))
        #expect(!phone.drafts.contains { String(decoding: $0.json(seq: 1), as: UTF8.self).contains("user") })
    }

    @Test("a button's link is the payload's, if nobody gives one, and none where another story is played")
    func declaredLink() throws {
        let story = phone.bellwether.story(of: try push([2, 2]))
        story.started(pageCount: 2)
        story.actionTapped(at: 1)
        story.started(pageCount: 5)
        story.actionTapped(at: 1)
        story.pageShown(at: 1)
        #expect(
            try phone.events().map(\.interaction) == [
                .storyStarted(StoryStart(pageCount: 2, declaredPageCount: 3)),
                .storyActionTapped(StoryActionTap(pageIndex: 1, linkScheme: "shop", linkHost: "sale")),
                .storyStarted(StoryStart(pageCount: 5)), .storyActionTapped(StoryActionTap(pageIndex: 1)),
                .pageShown(PageShown(pageIndex: 1, cause: .initial)),
            ])
    }

    @Test("a second notification that comes while the first is shown has its own callbacks")
    func secondNotification() throws {
        let adapter = adapter
        adapter.willShow(try push([5, 5], id: "first"))
        let first = Player(phone, adapter, durations: [5, 5])
        first.start()
        first.play(6)
        adapter.willShow(try push([3], id: "second"))
        let second = Player(phone, adapter, durations: [3])
        second.start()
        second.play(10)
        adapter.willShow(try phone.push(#"{"pw_msg":"1","p":"third"}"#))
        adapter.didShowFallback()
        let told = try phone.events().map { "\($0.notificationKey ?? "") \($0.type.name)" }
        #expect(
            told == [
                "first story.started", "first story.page_shown", "first story.page_shown", "second story.started",
                "second story.page_shown", "second story.finished", "third story.fallback_shown",
            ])
        guard case .pageShown(let page) = try phone.events()[4].interaction else {
            Issue.record("no page")
            return
        }
        #expect(page.cause == .initial)
    }

    @Test("a story left looping overnight ends being told where the service ends counting")
    func overnight() throws {
        let told = try play([1, 1, 1], loops: true) { $0.play(8 * 3600) }
        #expect(told.count == 1000)
    }

    @Test("a callback without a notification, and pages that no story has, are told to the developer")
    func misuse() throws {
        adapter.didShowPage(at: 0)
        let story = phone.bellwether.story(of: try push([2]))
        story.started(pageCount: 0)
        story.started(pageCount: 1001)
        story.pageShown(at: -1)
        story.actionTapped(at: 1000)
        #expect(phone.drafts.isEmpty)
        #expect(phone.reports.count(of: .misused) == 5)
    }
}
