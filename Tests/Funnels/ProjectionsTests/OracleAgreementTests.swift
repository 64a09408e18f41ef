import Foundation
import FunnelOracle
import HistoryFold
import Projections
import Testing

@Suite("Deliveries and funnels agree with the oracle")
struct OracleAgreementTests {
    /// How many histories are tried: `make histories` tries more.
    private static let asked = variables["BELLWETHER_HISTORIES"].flatMap { UInt64($0) }

    /// More histories are other ones: they begin where chance says, or `HISTORIES_SEED`, which tries the same again.
    private static let first: UInt64 = {
        guard asked != nil else { return 0 }
        let seed = variables["BELLWETHER_HISTORIES_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...1 << 40)
        FileHandle.standardError.write(Data("histories: HISTORIES_SEED=\(seed)\n".utf8))
        return seed
    }()

    private static let variables = ProcessInfo.processInfo.environment

    @Test("on random histories, cell by cell", arguments: 0..<8 as Range<UInt64>)
    func histories(part: UInt64) {
        var (events, differing) = (0, 0)
        for seed in stride(from: Self.first + part, to: Self.first + (Self.asked ?? 1_600), by: 8) {
            let history = RandomHistory(seed: seed)
            let log = WrittenLog(of: history)
            events += history.events.count
            let differences = log.differences(from: history.funnels, in: log.deliveries)
            #expect(differences == [], "seed \(seed)")
            if !differences.isEmpty { differing += 1 }
        }
        guard Self.asked != nil else { return }
        FileHandle.standardError.write(Data("seen: \(events) events, \(differing) histories that differ\n".utf8))
    }

    @Test("on a long history of many deliveries of the same apps", arguments: 0..<4 as Range<UInt64>)
    func longHistories(part: UInt64) {
        let history = RandomHistory(seed: 77_000 + part, deliveries: 300)
        let log = WrittenLog(of: history)
        #expect(log.differences(from: history.funnels, in: log.deliveries) == [], "seed \(history.seed)")
    }
}
