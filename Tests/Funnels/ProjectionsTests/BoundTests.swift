import FunnelOracle
import HistoryFold
import Telemetry
import Testing

@testable import Projections

@Suite("The bounds of a state")
struct BoundTests {
    @Test("a story that turns its pages 1,500 times keeps 1,000 of them, and agrees with the oracle")
    func stories() {
        var scene = Scene()
        scene.add(.receipt, -1)
        scene.add(.storyStarted(StoryStart(pageCount: 4)), 0)
        for turn in 0..<1_498 { scene.add(.page(turn % 4), Double(turn)) }
        scene.add(.page(9), 2_000)
        scene.add(.storyFinished, 2_001)
        #expect(scene.differences == [])
        let state = DeliveryState(of: scene.observations)
        #expect(state.observations.count <= DeliveryState.mostStoryEvents + 4)
        #expect(state.encoded().count < 32 * 1024)
        #expect(Facts(of: state).story?.exit == .finished)
        #expect(Facts(of: state).story?.pages == 10)
    }

    @Test("events before a story of 1,500 events, told after it, push as many out of the 1,000")
    func earlierStory() {
        var scene = Scene()
        for turn in 0..<1_500 { scene.add(.page(turn % 3), Double(turn)) }
        var state = DeliveryState(of: scene.observations)
        for turn in 0..<400 { scene.add(.page(3 + turn % 2), Double(turn) - 900.5) }
        state.merge(DeliveryState(of: scene.observations.suffix(400)))
        #expect(state == DeliveryState(of: scene.observations))
        #expect(state.encoded().count < 32 * 1024)
        #expect(scene.differences == [])
        // 400 of the later pages and 600 of the earlier ones.
        #expect(StoryPages(of: state, pages: 5).pages.map(\.views) == [200, 200, 200, 200, 200])
    }

    @Test("1,500 taps of several buttons are all counted, and timed from a receipt that comes after them")
    func taps() {
        var scene = Scene()
        for tap in 0..<1_500 {
            scene.add(.tap(["YES", "NO", "LATER"][tap % 3], tap % 2 == 0 ? .foreground : nil), Double(tap))
        }
        var state = DeliveryState(of: scene.observations)
        scene.add(.receipt, 500.5)
        state.merge(DeliveryState(of: scene.observations.suffix(1)))
        #expect(state == DeliveryState(of: scene.observations))
        #expect(state.observations.count == DeliveryState.mostTaps + 1)
        #expect(state.encoded().count < 32 * 1024)
        #expect(scene.differences == [])
        let actions = ActionTaps.byAction(of: state).values
        #expect(actions.map(\.taps) == [500, 500, 500])
        #expect(actions.map(\.foreground) == [250, 250, 250])
        #expect(actions.compactMap(\.afterReceipt).sorted() == [500_000, 1_500_000, 2_500_000])
    }

    @Test("taps beyond the first 1,000 are counted but not timed")
    func untimedTaps() {
        var scene = Scene()
        for tap in 0..<1_500 { scene.add(.tap(tap == 1_400 ? "RARE" : "YES"), Double(tap)) }
        scene.add(.receipt, 1_200)
        // The one place where a funnel may know less than its events say.
        #expect(
            scene.differences.map { String($0.suffix(20)) }
                == [
                    "timed is 0, expected 1", "median_seconds is null, expected 200.0",
                    "timed is 0, expected 1", "median_seconds is null, expected 0.0",
                ].map { String($0.suffix(20)) })
        let actions = ActionTaps.byAction(of: DeliveryState(of: scene.observations)).values
        #expect(actions.map(\.taps).sorted() == [1, 1_499])
        #expect(actions.allSatisfy { $0.afterReceipt == nil })
    }

    @Test("a tap beyond the first 1,000 that stays for its category is not counted again")
    func spokenTap() {
        var scene = Scene()
        for tap in 0..<1_200 { scene.add(.tap("YES"), Double(tap), category: tap == 1_100 ? "NEWS" : nil) }
        var state = DeliveryState(of: scene.observations)
        scene.add(.opened(launch: nil), 1_300)
        state.merge(DeliveryState(of: scene.observations.suffix(1)))
        #expect(state == DeliveryState(of: scene.observations))
        #expect(ActionTaps.byAction(of: state).values.map(\.taps) == [1_200])
        #expect(scene.differences == [])
    }

    @Test("what else repeats itself thousands of times leaves a few hundred bytes")
    func others() {
        var scene = Scene()
        for turn in 0..<3_000 {
            let category = turn % 7 == 3 ? "C\(turn)" : nil
            let media = Media(kind: .image, outcome: turn % 2 == 0 ? .failed : .attached)
            scene.add(
                .received(Receipt(via: .foreground, presentation: [], media: media, summaryArgumentCount: Int64(turn))),
                Double(turn * 3), category: category)
            scene.add(turn % 2 == 0 ? .expanded : .opened(launch: .warm), Double(turn * 3 + 1), category: category)
            scene.add(turn % 2 == 0 ? .dismissed : .silent(.failed), Double(turn * 3 + 2))
        }
        #expect(DeliveryState(of: scene.observations).encoded().count < 512)
        #expect(scene.differences == [])
    }
}
