import Testing

@testable import Reports

@Suite("False discovery over a whole report")
struct FalseDiscoveryTests {
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
