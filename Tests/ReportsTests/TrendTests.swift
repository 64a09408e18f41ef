import Testing
import Values

@testable import Reports

@Suite("Figures over time")
struct TrendTests {
    private func line(_ values: [Double?]) -> Trend.Line {
        Trend.Line("Rate", points: values.map { .init($0, $0.map { "\(Int($0))" } ?? "–") })
    }

    private func trend(_ values: [Double?], unsettled: Int = 0) -> Trend {
        Trend("", times: values.indices.map { "\($0)" }, lines: [line(values)], unsettled: unsettled)
    }

    @Test("the line goes from the least to the greatest; what is not known is a dot")
    func heights() {
        let values: [Double?] = [0, 7, nil, 3, 14]
        #expect(trend(values).sparkline(of: line(values)) == "▁▅·▃█")
        #expect(trend(values).range(of: line(values)) == "0 to 14")
    }

    @Test("points that still change stand behind a bar and do not count for the range that is told")
    func unsettled() {
        let values: [Double?] = [10, 12, 11, 90, 1]
        #expect(trend(values, unsettled: 2).sparkline(of: line(values)) == "▂▂▂┊█▁")
        #expect(trend(values, unsettled: 2).range(of: line(values)) == "10 to 12")
        #expect(trend(values, unsettled: 4).range(of: line(values)) == "10")
        #expect(trend(values, unsettled: 5).range(of: line(values)) == "1 to 90")
        #expect(trend(values, unsettled: 9).sparkline(of: line(values)).first != "┊")
    }

    @Test("a line that does not move lies in the middle, and says so")
    func flat() {
        #expect(trend([5, 5]).sparkline(of: line([5, 5])) == "▅▅")
        #expect(trend([5, 5]).range(of: line([5, 5])) == "5")
        #expect(trend([nil, nil]).sparkline(of: line([nil, nil])) == "··")
        #expect(trend([nil, nil]).range(of: line([nil, nil])) == "–")
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
        #expect(trend.times.count == 9 && trend.times.last == "Fri 20 Nov")
        #expect(trend.lines.map(\.name) == ["Deliveries", "Response rate", "Receipt coverage"])
        #expect(trend.unsettled == 2)
        #expect(section.sentences.first?.hasPrefix("The last 2 days have not settled:") == true)
        #expect(HTMLDocument(Page(report)).text.contains("<title>Fri 20 Nov: 40,262</title>"))
        report.trend = Array(report.trend.suffix(1))
        #expect(!Page(report).sections.contains { $0.title == "The last four weeks" })
    }
}
