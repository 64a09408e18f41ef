import FunnelOracle
import Projections
import Testing

@Suite("Deliveries and funnels agree with the oracle")
struct OracleAgreementTests {
    @Test("on random histories, cell by cell", arguments: 0..<8 as Range<UInt64>)
    func histories(part: UInt64) {
        for seed in stride(from: part, to: 1_600, by: 8) {
            let history = RandomHistory(seed: seed)
            let log = WrittenLog(of: history)
            #expect(log.differences(from: history.funnels, in: log.deliveries) == [], "seed \(seed)")
        }
    }

    @Test("on a long history of many deliveries of the same apps", arguments: 0..<4 as Range<UInt64>)
    func longHistories(part: UInt64) {
        let history = RandomHistory(seed: 77_000 + part, deliveries: 300)
        let log = WrittenLog(of: history)
        #expect(log.differences(from: history.funnels, in: log.deliveries) == [], "seed \(history.seed)")
    }
}
