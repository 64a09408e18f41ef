import Foundation
import FunnelOracle
import Projections
import Testing

@Suite("Deliveries and funnels agree with the oracle")
struct OracleAgreementTests {
    /// How many histories are tried: `make histories` tries more.
    private static let asked = ProcessInfo.processInfo.environment["BELLWETHER_HISTORIES"].flatMap { UInt64($0) }

    @Test("on random histories, cell by cell", arguments: 0..<8 as Range<UInt64>)
    func histories(part: UInt64) {
        // More histories are other ones: each run of so many begins where chance says.
        let first = Self.asked.map { _ in UInt64.random(in: 0...UInt64(1) << 40) } ?? 0
        var events = 0
        for seed in stride(from: first + part, to: first + (Self.asked ?? 1_600), by: 8) {
            let history = RandomHistory(seed: seed)
            let log = WrittenLog(of: history)
            events += history.events.count
            #expect(log.differences(from: history.funnels, in: log.deliveries) == [], "seed \(seed)")
        }
        if Self.asked != nil { FileHandle.standardError.write(Data("seen: \(events) events agree\n".utf8)) }
    }

    @Test("on a long history of many deliveries of the same apps", arguments: 0..<4 as Range<UInt64>)
    func longHistories(part: UInt64) {
        let history = RandomHistory(seed: 77_000 + part, deliveries: 300)
        let log = WrittenLog(of: history)
        #expect(log.differences(from: history.funnels, in: log.deliveries) == [], "seed \(history.seed)")
    }
}
