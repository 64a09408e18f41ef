import FunnelOracle
import HistoryFold
import Projections
import Telemetry
import Testing
import Values

@Suite("What the order of events decides")
struct EventOrderTests {
    @Test("an event dated before midnight that comes late takes the delivery to the day before")
    func day() {
        var scene = Scene()
        scene.add(.receipt, 5, category: "NEWS")
        scene.add(.opened(launch: nil), 9)
        scene.add(.expanded, -0.000_001)
        let log = scene.log
        var tables = FunnelTables()
        tables.apply(log.rows.prefix(2), of: log)
        #expect(days(tables) == ["2026-03-10"])
        tables.apply(log.rows.suffix(1), of: log)
        #expect(days(tables) == ["2026-03-09"])
        #expect(tables.sums.standing == FunnelSums(of: log.deliveries))
        #expect(scene.differences == [])
    }

    @Test("at one moment seq decides, then the id's bits, then the device's clock")
    func ties() {
        expectFirst("LOW") {
            $0.add(.expanded, 1, seq: 2, id: 1, category: "HIGH")
            $0.add(.expanded, 1, seq: 1, id: 2, category: "LOW")
        }
        expectFirst("NONE") {
            $0.add(.expanded, 1, seq: 1, id: 1, category: "ONE")
            $0.add(.expanded, 1, id: 2, category: "NONE")
        }
        expectFirst("LOW") {
            $0.add(.expanded, 1, id: .max, category: "HIGH")
            $0.add(.expanded, 1, seq: 0, id: 3, category: "LOW")
        }
        expectFirst("EARLY") {
            $0.add(.expanded, 1, id: 3, deviceAt: 900, category: "LATE")
            $0.add(.expanded, 1, id: 3, deviceAt: -900, category: "EARLY")
        }
    }

    @Test("of categories that contradict each other the first counts, wherever it comes in")
    func categories() {
        expectFirst("A") {
            $0.add(.opened(launch: nil), 3, category: "C")
            $0.add(.receipt, 1)
            $0.add(.tap("YES"), 2, category: "A")
            $0.add(.dismissed, 2.5, category: "B")
        }
    }

    @Test("a silent push that turns out visible leaves the silent funnel, in whatever order its events come")
    func silent() {
        var scene = Scene()
        scene.add(.silent(.newData), 1)
        scene.add(.silent(.failed), 3)
        scene.add(.silent(), 4)
        scene.add(.silent(), 2, alert: true)
        scene.add(.received(Receipt(via: .foreground, presentation: [.sound])), 5)
        let log = scene.log
        for order in permutations(of: Array(log.rows.indices)) {
            var tables = FunnelTables()
            for (arrived, place) in order.enumerated() {
                tables.apply([log.rows[place]], of: log)
                let isVisible = order.prefix(arrived + 1).contains { $0 >= 3 }
                #expect(tables.deliveries(of: log).map(\.facts.flags.isSilent) == [!isVisible])
                #expect((tables.sums.standing.tables["silent_funnel"] == nil) == isVisible)
                #expect((tables.sums.standing.tables["category_funnel"] == nil) == !isVisible)
                #expect(log.brokenLaws(of: tables) == [])
            }
            #expect(tables.sums.standing == FunnelSums(of: log.deliveries))
        }
        #expect(scene.differences == [])
    }

    @Test("the last fetch result in event order counts, not the last that came")
    func fetchResult() {
        var scene = Scene()
        scene.add(.silent(.failed), 3)
        scene.add(.silent(.newData), 1)
        scene.add(.silent(), 4)
        #expect(scene.differences == [])
        #expect(scene.funnels.silent.map(\.failed) == [1])
    }

    @Test("a tap in the receipt's microsecond is timed with 0 although its id puts it first")
    func tapAtReceipt() {
        var scene = Scene()
        scene.add(.tap("YES"), 1, id: 1)
        scene.add(.receipt, 1, id: 2)
        scene.add(.tap("YES"), 7, id: 3)
        #expect(scene.differences == [])
        #expect(scene.funnels.actions.map(\.median) == [0])
    }

    /// In every order in which these events can come.
    private func expectFirst(_ category: String, _ tell: (inout Scene) -> Void) {
        let scene = Scene(tell)
        #expect(scene.differences == [])
        let log = scene.log
        for order in permutations(of: log.rows) {
            var tables = FunnelTables()
            for row in order { tables.apply([row], of: log) }
            let found = tables.deliveries(of: log).map {
                log.word("category", $0.facts.attributes.category, of: $0.name.app)
            }
            #expect(found == [category])
        }
    }

    private func days(_ tables: FunnelTables) -> [String] {
        (tables.sums.standing.tables["category_funnel"] ?? [:]).keys.map(\.day.description)
    }

    private func permutations<Element>(of elements: [Element]) -> [[Element]] {
        guard let last = elements.last else { return [[]] }
        return permutations(of: elements.dropLast()).flatMap { shorter in
            (0...shorter.count).map { place in
                var longer = shorter
                longer.insert(last, at: place)
                return longer
            }
        }
    }
}
