import FunnelOracle
import Telemetry
import Testing

@Suite("Category actions")
struct CategoryActionTests {
    /// The row of the action YES.
    private func yes(_ events: [StoredEvent]) throws -> CategoryActions {
        try #require(try funnels(events).actions.first { $0.key.action == "YES" })
    }

    @Test("taps are events, deliveries count once, and foreground goes by activation")
    func taps() throws {
        let one = Example("1")
        let two = Example("2")
        let rows = try funnels([
            one.event(.tap("YES", .foreground), 1), one.event(.tap("YES", .background), 2),
            one.event(.tap("YES", .foreground), 3), one.event(.tap("NO"), 4), two.event(.tap("YES"), 5),
            Example("3", category: "OTHER").event(.tap("YES"), 6),
        ]).actions
        #expect(rows.map { "\($0.key.category) \($0.key.action)" } == ["NEWS NO", "NEWS YES", "OTHER YES"])
        #expect(counts(rows[0]) == ["tapped_deliveries": 1, "taps": 1])
        #expect(counts(rows[1]) == ["tapped_deliveries": 2, "taps": 4, "foreground_taps": 2, "sole": 1])
        #expect(counts(rows[2]) == ["tapped_deliveries": 1, "taps": 1, "sole": 1])
        #expect(rows.allSatisfy { $0.median == nil })
    }

    @Test("a delivery is timed from its earliest receipt to the first tap of the action not before it")
    func timed() throws {
        func time(_ events: (Interaction, Double)...) throws -> Int64? {
            let row = try yes(events.map { Example().event($0.0, $0.1) })
            #expect(row.timed == (row.median == nil ? 0 : 1))
            return row.median
        }
        #expect(try time((.receipt, 0), (.tap("YES"), 2.5)) == 2_500_000)
        #expect(try time((.receipt, 10), (.receipt, 4), (.tap("YES"), 12), (.tap("YES"), 11)) == 7_000_000)
        #expect(try time((.receipt, 10), (.tap("YES"), 4), (.tap("YES"), 13)) == 3_000_000)
        #expect(try time((.receipt, 10), (.tap("NO"), 11), (.tap("YES"), 15)) == 5_000_000)
        #expect(try time((.receipt, 10), (.tap("YES"), 9.999999)) == nil)
        #expect(try time((.receipt, 10), (.tap("YES"), 10)) == 0)
        #expect(try time((.open, 0), (.tap("YES"), 10)) == nil)
        #expect(try time((.silent(), 3), (.receipt, 5), (.tap("YES"), 10)) == 7_000_000)
    }

    @Test("a tap in the microsecond of the receipt is timed with 0, whatever seq puts first")
    func sameMoment() throws {
        let row = try yes([Example().event(.receipt, 0, seq: 2), Example().event(.tap("YES"), 0, seq: 1)])
        #expect(row.timed == 1 && row.median == 0)
    }

    @Test("the median is the ⌈timed/2⌉-th smallest", arguments: [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (6, 3)])
    func median(timed: Int, rank: Int) throws {
        // The n-th smallest time is 10 n seconds; the deliveries come in another order.
        let events = (1...timed).reversed().flatMap { number in
            [Example("\(number)").event(.receipt), Example("\(number)").event(.tap("YES"), Double(10 * number))]
        }
        let row = try yes(events + [Example("untimed").event(.tap("YES"), 3)])
        #expect(row.timed == timed && row.tappedDeliveries == timed + 1)
        #expect(row.median == Int64(rank) * 10_000_000)
    }
}
