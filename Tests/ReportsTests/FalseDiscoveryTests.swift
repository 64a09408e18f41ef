import Testing

@testable import Reports

@Suite("False discovery over a whole report") struct FalseDiscoveryTests {
    @Test("the k-th of m probabilities counts up to k times 5 % of m, and none from 1 % on")
    func limit() {
        #expect(FalseDiscovery.limit(of: []) == 0)
        #expect(FalseDiscovery.limit(of: [0.009]) == 0.009)
        #expect(FalseDiscovery.limit(of: [0.01]) == 0)
        // Of twenty, the first may be up to .0025, and the second up to .005.
        let others = [Double](repeating: 0.6, count: 18)
        #expect(FalseDiscovery.limit(of: [0.003, 0.3] + others) == 0)
        #expect(FalseDiscovery.limit(of: [0.004, 0.003] + others) == 0.004)
        #expect(FalseDiscovery.limit(of: [0.0001, 0.3] + others) == 0.0001)
    }

    @Test("two versions with p = .004 are no alarms among sixty that do not differ")
    func versions() {
        var report = SampleReport.small
        report.versions = (0..<60).map { place in
            var version = SampleReport.busy.versions[1]
            version.version = "\(place)"
            version.verdict = place < 2 ? .lower(p: 0.004) : .likeChance(p: Double(place) / 60)
            return version
        }
        #expect(LostReceipts.find(in: report.versions).count == 2)
        report.judgeTogether()
        #expect(LostReceipts.find(in: report.versions).isEmpty)
        #expect(report.comparisons == 60)
        #expect(report.versions[0].verdict == .likeChance(p: 0.004))
        #expect(report.versions[0].verdict.sentence.hasPrefix("Among so many comparisons"))
    }

    @Test("what is judged together stays as it is when it is judged again")
    func again() {
        var report = SampleReport.busy
        report.judgeTogether()
        let once = report
        report.judgeTogether()
        #expect(report == once)
    }
}

@Suite("Versions that lose receipts") struct LostReceiptsTests {
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
