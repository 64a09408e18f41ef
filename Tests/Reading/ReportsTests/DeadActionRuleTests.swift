import Telemetry
import Testing
import Values

@testable import Reports

@Suite("Which buttons are dead")
struct DeadActionRuleTests {
    private static let day = CivilDate(daysSince1970: 20_412)

    /// A category "C" that was delivered so often on each of the 28 days.
    private struct Scene {
        var perDay: Int64 = 100
        /// The last days that have not settled.
        var unsettled = 0
        var tapped: [DeadActionRule.Tapped] = []
        var places: [DeadActionRule.Place] = []

        /// A button is tapped on so many deliveries on each of some days, told as days before the report's, and says
        /// its place of so many.
        mutating func tap(
            _ id: String, _ days: ClosedRange<Int>, deliveries: Int64 = 5, index: Int64? = nil, of count: Int64? = nil
        ) {
            tapped += days.map { .init(category: "C", id: id, day: day.advanced(by: -$0), deliveries: deliveries) }
            places.append(
                .init(
                    category: "C", id: id, index: index, count: count,
                    days: day.advanced(by: -days.upperBound)...day.advanced(by: -days.lowerBound)))
        }

        var dead: [DeadAction.What] { found.map(\.what) }

        var found: [DeadAction] {
            let delivered = (0..<28).map {
                DeadActionRule.Delivered(category: "C", day: day.advanced(by: -$0), deliveries: perDay)
            }
            return DeadActionRule(
                day: day, lastSettled: day.advanced(by: -unsettled), delivered: delivered, tapped: tapped,
                places: places
            ).find()
        }
    }

    @Test("one that was tapped before but not for seven days, with the deliveries since and the rate they rule out")
    func silent() throws {
        var scene = Scene()
        scene.tap("OLD", 7...20)
        let dead = try #require(scene.found.first)
        #expect(dead.category == "C")
        #expect(dead.what == .silentSince(id: "OLD", days: 7))
        #expect(dead.delivered == 700)
        #expect(dead.bound == TwoProportions.bound(ofNoneIn: 700))
        #expect(scene.found.count == 1)
        scene = Scene()
        scene.tap("ALIVE", 6...20)
        #expect(scene.dead == [])
    }

    @Test("not one that was always tapped rarely: a week without a tap may be chance")
    func rare() {
        var scene = Scene()
        // One tap in 2,000 deliveries: 700 without one are nothing.
        scene.tap("RARE", 8...8, deliveries: 1)
        #expect(scene.dead == [])
        // 14 in 2,000, and then none in 800: (1 - 0.007)^800 < 0.01.
        scene = Scene()
        scene.tap("KNOWN", 8...21, deliveries: 1)
        #expect(scene.dead == [.silentSince(id: "KNOWN", days: 8)])
    }

    @Test("not with fewer than a hundred deliveries")
    func few() {
        var scene = Scene()
        scene.perDay = 14
        scene.tap("OLD", 7...20, index: 0, of: 2)
        #expect(scene.dead == [])  // 98
        scene.perDay = 15
        #expect(scene.dead == [.silentSince(id: "OLD", days: 7)])
        scene = Scene()
        scene.perDay = 3
        scene.tap("YES", 0...27, deliveries: 1, index: 0, of: 2)
        #expect(scene.dead == [])  // 84
        scene.perDay = 4
        #expect(scene.dead == [.neverTapped(index: 1, count: 2)])
    }

    @Test("not one that was removed: another is tapped at its place, or there are fewer places")
    func takenAway() {
        var scene = Scene()
        scene.tap("OLD", 10...20, index: 1, of: 2)
        scene.tap("YES", 0...27, index: 0, of: 2)
        #expect(scene.dead == [.silentSince(id: "OLD", days: 10)])
        var renamed = scene
        renamed.tap("NEW", 0...9, index: 1, of: 2)
        #expect(renamed.dead == [])
        // One that was there before and beside it is no successor.
        var older = scene
        older.tap("OLDER", 12...27, index: 1, of: 2)
        #expect(older.dead == [.silentSince(id: "OLD", days: 10)])
        var shrunk = scene
        shrunk.places.removeLast()
        shrunk.tap("YES", 0...9, index: 0, of: 1)
        #expect(shrunk.dead == [])
    }

    @Test("an untapped place beside tapped ones, since it is known to exist")
    func never() throws {
        var scene = Scene()
        scene.tap("YES", 5...27, index: 0, of: 3)
        scene.tap("LATER", 0...12, index: 2, of: 3)
        let dead = try #require(scene.found.first)
        #expect(scene.found.count == 1)
        #expect(dead.what == .neverTapped(index: 1, count: 3))
        #expect(dead.delivered == 2_800)
        // Known for six days, and for seven.
        scene = Scene()
        scene.tap("YES", 7...27, index: 0, of: 1)
        scene.tap("YES", 0...5, index: 0, of: 2)
        #expect(scene.dead == [])
        scene.tap("YES", 6...6, index: 0, of: 2)
        #expect(scene.found.map(\.delivered) == [700])
        scene.unsettled = 1
        #expect(scene.dead == [])
    }

    @Test("not one whose neighbours are tapped so rarely that no tap may be chance")
    func neighbours() {
        var scene = Scene()
        // Three taps on two neighbours in 2,800 deliveries.
        scene.tap("YES", 3...4, deliveries: 1, index: 0, of: 3)
        scene.tap("YES", 20...20, deliveries: 0, index: 0, of: 3)
        scene.tap("LATER", 5...5, deliveries: 1, index: 2, of: 3)
        #expect(scene.dead == [])
        scene.tap("YES", 6...9, deliveries: 3, index: 0, of: 3)
        #expect(scene.dead == [.neverTapped(index: 1, count: 3)])
    }

    @Test("nothing that days say which have not settled, but a tap on them counts")
    func unsettled() {
        var scene = Scene()
        scene.tap("OLD", 8...20)
        #expect(scene.found.map(\.delivered) == [800])
        scene.unsettled = 1
        #expect(scene.found.map(\.delivered) == [700])
        // Six settled days without a tap.
        scene.unsettled = 2
        #expect(scene.dead == [])
        scene = Scene()
        scene.unsettled = 1
        scene.tap("OLD", 8...20)
        scene.tap("OLD", 0...0, deliveries: 1)
        #expect(scene.dead == [])
    }

    @Test("no place if the week's taps disagree on the number, or a tapped button has no known place")
    func unsure() {
        var scene = Scene()
        scene.tap("YES", 0...27, index: 0, of: 3)
        #expect(scene.dead == [.neverTapped(index: 1, count: 3), .neverTapped(index: 2, count: 3)])
        var disagreeing = scene
        disagreeing.tap("YES", 3...3, index: 0, of: 2)
        #expect(disagreeing.dead == [])
        // What they said before the week does not matter.
        var grown = scene
        grown.tap("YES", 7...20, index: 0, of: 2)
        #expect(grown.dead == scene.dead)
        var placeless = scene
        placeless.tap("HIDDEN", 0...5)
        #expect(placeless.dead == [])
        var absurd = Scene()
        absurd.tap("YES", 0...27, index: 0, of: 9_007_199_254_740_992)
        #expect(absurd.dead == [])
    }

    @Test("the most delivered come first, and two spellings of a letter make two categories")
    func order() {
        let day = Self.day
        func delivered(_ category: String, _ deliveries: Int64) -> DeadActionRule.Delivered {
            .init(category: category, day: day, deliveries: deliveries)
        }
        func tapped(_ category: String) -> DeadActionRule.Tapped {
            .init(category: category, id: "YES", day: day, deliveries: 20)
        }
        func place(_ category: String) -> DeadActionRule.Place {
            .init(category: category, id: "YES", index: 0, count: 2, days: day.advanced(by: -6)...day)
        }
        let names = ["caf\u{e9}", "cafe\u{301}", "B", "A"]
        let rule = DeadActionRule(
            day: day, lastSettled: day, delivered: zip(names, [200, 300, 150, 150]).map(delivered),
            tapped: names.map(tapped),
            places: names.map(place))
        let found = rule.find()
        // By their bytes: to `String` the first two are one.
        #expect(found.map { $0.category.unicodeScalars.count } == [5, 4, 1, 1])
        #expect(found.map(\.category) == ["cafe\u{301}", "caf\u{e9}", "A", "B"])
        #expect(found.map(\.delivered) == [300, 200, 150, 150])
    }

    @Test(
        "of registered buttons, those that were seen and never tapped are dead, and those that fell silent; no others")
    func registered() throws {
        func button(_ id: String, _ position: Int?, _ verdict: Button.Status) -> Button {
            let bound = verdict == .untapped ? 0.002 : nil
            return Button(
                id: id, position: position, title: id.lowercased(), exposures: 2_000,
                tappedDeliveries: verdict == .tapped ? 40 : 0, taps: 0, verdict: verdict, registered: Self.day,
                rateBound: bound)
        }
        let buttons = [
            button("YES", 1, .tapped), button("NO", 2, .untapped), button("LATER", 3, .mayBeCutOff),
            button("OLD", nil, .retired),
        ]
        func untapped(_ buttons: [Button], unsettled: Int64 = 0) -> [DeadAction] {
            DeadAction.untapped(
                among: [ExactName("NEWS"): buttons], unsettled: [ExactName("NEWS"): unsettled],
                last: Self.day.advanced(by: -6))
        }
        let bound = try #require(TwoProportions.bound(ofNoneIn: 2_000))
        #expect(
            untapped(buttons) == [
                DeadAction(category: "NEWS", what: .untapped(id: "NO"), delivered: 2_000, bound: bound, title: "no")
            ])
        // What people saw on days that have not settled proves nothing; nor does a button beside one that is hardly
        // tapped; nor one that was added a day ago.
        #expect(untapped(buttons, unsettled: 1_600).map(\.delivered) == [400])
        #expect(untapped(buttons, unsettled: 1_702) == [])
        var rare = buttons
        rare[0].tappedDeliveries = 3
        #expect(untapped(rare) == [])
        var older = buttons
        older[0].registered = Self.day.advanced(by: -30)
        #expect(untapped(older) == [])
        older[1].registered = Self.day.advanced(by: -6)
        #expect(untapped(older).count == 1)
        func judged(_ what: DeadAction.What) -> DeadAction? {
            DeadAction(category: "NEWS", what: what, delivered: 300, bound: 0.01).judged(by: buttons)
        }
        #expect(judged(.silentSince(id: "YES", days: 8))?.title == "yes")
        #expect(judged(.silentSince(id: "OLD", days: 8)) == nil)
        #expect(judged(.silentSince(id: "OTHER", days: 8)) == nil)
        #expect(judged(.neverTapped(index: 2, count: 3)) == nil)
        // Where none is registered now, taps tell.
        let gone = DeadAction(category: "NEWS", what: .neverTapped(index: 2, count: 3), delivered: 300, bound: 0.01)
        #expect(gone.judged(by: []) == gone && gone.judged(by: [button("OLD", nil, .retired)]) == gone)
    }
}
