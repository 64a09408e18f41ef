import Testing

@testable import Reports

@Suite("Versions that lose receipts")
struct LostReceiptsTests {
    private func alarms(_ versions: [VersionSummary]) throws -> [String] {
        var report = SampleReport.busy
        report.versions = versions
        let section = try #require(Page(report).sections.first { $0.title == "Receipts by app version" })
        return section.blocks.compactMap { if case .sentence(let words, .alarm) = $0 { words } else { nil } }
    }

    @Test("one that loses them on three platforms is one alarm, with its platforms and their coverage together")
    func oneCause() throws {
        let versions = ["ios", "android", "ipados"].map { platform in
            VersionSummary(
                platform: platform, version: "4.3.0", counts: FunnelCounts(delivered: 1000, received: 600),
                before: Rate(990, of: 1000), isNew: false, verdict: .lower(p: 0.0001))
        }
        #expect(
            try alarms(versions) == [
                "Receipt coverage of 4.3.0 on ios, android and ipados fell from 99.0 % to 60.0 %. On each of them this is more "
                    + "than chance. Check its notification service extension."
            ])
        #expect(
            try alarms([versions[0]]).first?.hasPrefix("Receipt coverage of ios 4.3.0 fell from 99.0 % to 60.0 %. ")
                == true)
        var other = versions[1]
        other.version = "4.4.0"
        #expect(try alarms([versions[0], other]).count == 2)
    }
}
