import Testing
import Values

@testable import Reports

@Suite("Charts") struct ChartTests {
    private func trend(_ values: [Double?], unit: Chart.Unit = .count) -> Chart {
        Chart(
            title: "Deliveries <b>", unit: unit,
            points: values.enumerated().map { place, value in
                var point = Chart.Point(
                    day: CivilDate(daysSince1970: 20_000 + place), value: value, isOpen: place >= values.count - 2)
                if place > 2 { point.usual = 10...20 }
                if place == 1 { point.told = 5 }
                return point
            })
    }

    @Test(
        "the axis ends at a round figure above all",
        arguments: [(7, 8), (100, 100), (101, 120), (4_321, 5_000), (0, 4)])
    func top(most: Double, expected: Double) {
        #expect(trend([most]).top == max(expected, 20 > most ? expected : expected))
    }

    @Test("shares near the whole have an axis on which a fall from 99 % to 90 % is seen")
    func nearTheWhole() {
        let fell = trend([0.99, 0.98, 0.99, 0.9], unit: .share).points.map { point in
            var point = point
            (point.usual, point.told) = (nil, nil)
            return point
        }
        let chart = Chart(title: "Receipt coverage", unit: .share, points: fell)
        #expect(chart.bottom == 0.8 && chart.top == 1)
        #expect(trend([0.2, 0.3], unit: .share).bottom == 0 && trend([90, 99]).bottom == 0)
        var document = HTMLDocument()
        document.write([chart])
        #expect(document.text.contains(">80.0 %</text>") && document.text.contains("overflow=\"visible\""))
    }

    @Test("shares end at one") func shares() {
        #expect(trend([0.99], unit: .share).top <= 1)
        #expect(trend([nil], unit: .share).top > 0)
    }

    @Test("a chart says what it shows, escapes its names, and has no style of its own") func drawn() {
        var document = HTMLDocument()
        document.write([trend([10, 12, nil, 14, 30, 12, 9])])
        #expect(document.text.contains("Deliveries &lt;b&gt;") && !document.text.contains("<b>"))
        #expect(document.text.contains("role=\"img\"") && document.text.contains("lowest 9 on"))
        #expect(!document.text.contains("style=") && !document.text.contains("nan"))
        // The line breaks where nothing is known, and days that still change are drawn apart.
        #expect(document.text.contains("class=\"run open\"") && document.text.contains("class=\"still\""))
        #expect(document.text.contains("class=\"usual\"") && document.text.contains("class=\"told\""))
        #expect(document.text.contains("; still changing"))
    }
}
