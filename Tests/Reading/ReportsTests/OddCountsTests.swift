import ServiceRuntime
import Testing
import Values

@testable import Reports

/// Events get lost, so a part may be greater than its whole. Nothing that is computed from counts may end the process
/// then.
@Suite("Counts that no law holds together") struct OddCountsTests {
    /// Small ones, the ends of what is counted exactly, those of the type, and some in between, each with its
    /// neighbours.
    private static let counts: [Int64] =
        ([0, 1, 2, 10, 11, 20, 30, 40, 99, 100, 1000, 1_000_000, 1 << 31, 1 << 52, 1 << 53, 1 << 62] as [Int64])
        .flatMap { [$0, $0 - 1, $0 + 1, -$0] } + [.min, .min + 1, .max, .max - 1]

    private static let doubles = [
        0, -0.0, 1, -1, 0.5, 1.1, 2, 1e-300, 1e300, .leastNonzeroMagnitude, -.infinity, .infinity, .nan, 9.3e18,
        -9.3e18,
    ]

    /// The same numbers each time.
    private struct Seeded: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
            return mixed ^ mixed >> 31
        }
    }

    private static func rates(_ number: Int, seed: UInt64) -> [Rate] {
        var numbers = Seeded(state: seed)
        return (0..<number).map { _ in
            // Of any size, and now and then one of the odd ones.
            func count() -> Int64 {
                Bool.random(using: &numbers)
                    ? counts.randomElement(using: &numbers) ?? 0
                    : Int64.random(in: 0...(1 << Int64.random(in: 0...53, using: &numbers)), using: &numbers)
            }
            return Rate(count(), of: count())
        }
    }

    @Test("an interval has ends between 0 and 1 around a share, and there is none of what is no share")
    func intervals() {
        for part in Self.counts {
            for whole in Self.counts {
                let rate = Rate(part, of: whole)
                for z in Self.doubles + [1.96] {
                    guard let interval = Interval.of(rate, z: z) else { continue }
                    #expect(rate.isShare && interval.lowerBound >= 0 && interval.upperBound <= 1, "\(rate) \(z)")
                }
                #expect((Interval.of(rate) != nil) == rate.isShare, "\(rate)")
            }
        }
        for error in Self.doubles { #expect(Interval.quantile(ofError: error).isFinite) }
    }

    @Test("two rates compare, whatever they are; only shares are judged", arguments: 1...4 as ClosedRange<UInt64>)
    func verdicts(seed: UInt64) {
        let rates = Self.rates(160, seed: seed)
        for (place, rate) in rates.enumerated() {
            for base in rates[place...].prefix(40) {
                _ = Interval.ofDifference(rate, from: base)
                let both = rate + base
                #expect(both.value?.isFinite ?? true)
                let verdict = TwoProportions.verdict(rate, against: base)
                if let p = TwoProportions.probability(rate, against: base) {
                    #expect((0...1).contains(p), "\(rate) \(base): \(p)")
                }
                #expect((0...1).contains(FisherTest.probability(rate, base)))
                guard !rate.isShare || !base.isShare else { continue }
                #expect([.smallSample, .beyondWhole].contains(verdict), "\(rate) \(base): \(verdict)")
                #expect(!verdict.sentence.isEmpty && verdict.tested == nil || verdict == .smallSample)
            }
        }
        let named = rates.prefix(40).enumerated().map { (name: "v\($0)", rate: $1) }
        for isSettled in [true, false] {
            for test in VariantTest.compare(named, isSettled: isSettled) {
                #expect(test.interval.lowerBound <= test.interval.upperBound && (0...1).contains(test.baseRate))
            }
        }
    }

    @Test("sums and middles stay in their type; probabilities that are none are left out") func sums() {
        for one in Self.counts {
            for other in Self.counts {
                let middle = Median.of([one, other]) ?? 0
                #expect(min(one, other) <= middle && middle <= max(one, other), "\(one) \(other)")
                #expect(one.addingSaturated(other) == Int64(clamping: Int128(one) + Int128(other)))
                #expect(one.subtractingSaturated(other) == Int64(clamping: Int128(one) - Int128(other)))
                _ = Wording.change(from: one, to: other)
            }
            _ = TwoProportions.bound(ofNoneIn: one)
            _ = (Wording.count(one), Wording.bytes(one))
        }
        #expect(!FalseDiscovery.limit(of: Self.doubles).isNaN)
        #expect(VariantTest.holm(Self.doubles).allSatisfy { $0.map { $0 >= 0 } ?? true })
        var curve = ArrivalCurve()
        for hours in [-1, 0, 1, 671, 672, 673, .max] {
            for count in Self.counts { curve.addDay(watched: hours, arrivals: [0: count, 1: count, 672: count]) }
        }
        for hours in [Int.min, -1, 0, 1, 672, 673, .max] { _ = curve.share(after: hours) }
        for share in Self.doubles { _ = curve.hours(to: share) }
    }

    @Test("charts, bars and words take every number") func drawing() {
        let points = Self.doubles.map { value in
            var point = Chart.Point(day: CivilDate(daysSince1970: 20_000), value: value, isOpen: false)
            (point.told, point.compared) = (value, value)
            return point
        }
        for unit in [Chart.Unit.count, .share] {
            for points in [points] + points.map({ [$0] }) {
                let chart = Chart(title: "odd", unit: unit, points: points)
                var document = HTMLDocument()
                document.write([chart])
                #expect(!chart.sparkline.isEmpty && !chart.told.isEmpty && document.text.contains("</svg>"))
            }
        }
        for value in Self.doubles {
            #expect(!Wording.percent(value).isEmpty && !Wording.duration(seconds: value).isEmpty)
            #expect(!Wording.points(from: value, to: 1).isEmpty && !Wording.probability(value).isEmpty)
            #expect(Bar.blocks(value, width: 10).count <= 10)
            var table = Table("t", columns: [.bar("b")], rows: Self.doubles.map { [Table.Cell("x", share: $0)] })
            table.rows.append([Table.Cell("x", share: value, interval: 0...1)])
            table.rows[0][0].spark = [value, 1, nil]
            var document = HTMLDocument()
            document.write(.table(table))
            #expect(document.text.contains("</table>"))
        }
    }

    @Test("what is over 100 % is shown as it is, with a word why") func told() {
        let table = Table("Stories", of: [Rate(11, of: 10)]) { [.bar("Completed", $0), .interval($0)] }
        #expect(table.rows[0].map(\.text) == ["110.0 %", "–"] && table.isBeyondWhole)
        #expect(!Table("", of: [Rate(10, of: 10)]) { [.bar("", $0), .percent("", $0)] }.isBeyondWhole)
        #expect(TwoProportions.verdict(Rate(40, of: 20), against: Rate(3, of: 20)) == .beyondWhole)
        #expect(Significance.beyondWhole.sentence.contains("over 100 %"))
    }
}
