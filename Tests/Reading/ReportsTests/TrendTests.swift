import Testing
import Values

@testable import Reports

@Suite("Figures over time")
struct TrendTests {
    private func chart(_ values: [Double?], unsettled: Int = 0) -> Chart {
        Chart(
            title: "Deliveries", unit: .count,
            points: values.enumerated().map { place, value in
                .init(
                    day: CivilDate(daysSince1970: 20_000 + place), value: value,
                    isOpen: place >= values.count - unsettled)
            })
    }

    @Test("the line goes from the least to the greatest; what is not known is a dot")
    func heights() {
        let chart = chart([0, 7, nil, 3, 14])
        #expect(chart.sparkline == "▁▅·▃█" && chart.range == "0 to 14" && chart.latest == "14")
    }

    @Test("points that still change stand behind a bar and do not count for the range that is told")
    func unsettled() {
        let values: [Double?] = [10, 12, 11, 90, 1]
        #expect(chart(values, unsettled: 2).sparkline == "▂▂▂┊█▁")
        #expect(chart(values, unsettled: 2).range == "10 to 12")
        #expect(chart(values, unsettled: 4).range == "10")
        #expect(chart(values, unsettled: 5).range == "1 to 90")
        #expect(chart(values, unsettled: 9).sparkline.first != "┊")
    }

    @Test("a line that does not move lies in the middle, and says so")
    func flat() {
        #expect(chart([5, 5]).sparkline == "▅▅" && chart([5, 5]).range == "5")
        #expect(chart([nil, nil]).sparkline == "··" && chart([nil, nil]).range == "–")
    }

    @Test("it begins with the first day that had deliveries, and says which days still change")
    func words() throws {
        var report = SampleReport.busy
        for place in 0..<20 { report.trend[place].counts = FunnelCounts() }
        let section = try #require(Page(report).sections.first { $0.title == "The last four weeks" })
        guard case .trend(let trend) = section.blocks[0] else {
            Issue.record("\(section.blocks)")
            return
        }
        #expect(trend.table.rows.count == 9 && trend.table.rows.last?.first?.text == "Fri 20 Nov")
        #expect(trend.charts.map(\.title) == ["Deliveries", "Response rate", "Receipt coverage"])
        #expect(trend.charts.allSatisfy { $0.points.suffix(3).map(\.isOpen) == [false, true, true] })
        #expect(section.sentences.first?.hasPrefix("The last 2 days have not settled:") == true)
        #expect(HTMLDocument(Page(report)).text.contains("<title>Fri 20 Nov: 40,262; still changing</title>"))
        report.trend = Array(report.trend.suffix(1))
        #expect(!Page(report).sections.contains { $0.title == "The last four weeks" })
    }
}
