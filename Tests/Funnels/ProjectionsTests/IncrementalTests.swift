import FunnelOracle
import HistoryFold
import Projections
import Testing

@Suite("Funnels moved on batch by batch")
struct IncrementalTests {
    @Test("keep the contract's laws after every batch, and end as if all had come at once")
    func laws() {
        for seed in 40_000..<40_500 as Range<UInt64> {
            var random = SeededNumbers(seed: seed)
            let log = WrittenLog(of: RandomHistory(seed: seed))
            var tables = FunnelTables()
            var standing: [String: Set<Tally.Cell>] = [:]
            for batch in batches(of: log.rows, &random) {
                tables.apply(batch, of: log)
                #expect(log.brokenLaws(of: tables) == [], "seed \(seed)")
                standing.merge(tables.sums.standing.cells) { $0.union($1) }
            }
            #expect(tables.sums.standing == FunnelSums(of: log.deliveries).standing, "seed \(seed)")
            // An all-zero row is left only where something once stood.
            #expect(tables.sums.cells == standing, "seed \(seed)")
        }
    }

    @Test("agree with the oracle after every batch")
    func oracle() {
        for seed in 50_000..<50_120 as Range<UInt64> {
            var random = SeededNumbers(seed: seed)
            let history = RandomHistory(seed: seed)
            let log = WrittenLog(of: history)
            var tables = FunnelTables()
            var arrived = 0
            for batch in batches(of: log.rows, &random) {
                tables.apply(batch, of: log)
                arrived += batch.count
                let funnels = Oracle.funnels(of: Array(history.events.prefix(arrived)), timeZone: history.timeZone)
                // Days of installs, and goals, are not kept here.
                let ofInstalls = [InstallRow.view, InstallDays.view, MutedAfter.view] + Funnels.ofGoals
                let differences = funnels.tables.filter { !ofInstalls.contains($0.view) }.flatMap { table in
                    table.view == "deliveries"
                        ? table.differences(in: log.rows(of: tables.deliveries(of: log), as: table))
                        : table.differences(in: tables.sums.rows(of: table, in: log))
                }
                #expect(differences == [], "seed \(seed) after \(arrived) events")
            }
        }
    }

    @Test("a batch that brings nothing new changes no cell")
    func nothingNew() {
        for seed in 60_000..<60_200 as Range<UInt64> {
            let log = WrittenLog(of: RandomHistory(seed: seed))
            var tables = FunnelTables()
            tables.apply(log.rows, of: log)
            let sums = tables.sums
            tables.apply(log.rows, of: log)
            #expect(tables.sums == sums, "seed \(seed)")
        }
    }

    /// Cut at random places, in the order of arrival.
    private func batches(of rows: [WrittenLog.Row], _ random: inout SeededNumbers) -> [ArraySlice<WrittenLog.Row>] {
        var batches: [ArraySlice<WrittenLog.Row>] = []
        var rest = rows[...]
        while !rest.isEmpty {
            let count = random.number(1...random.any([2, 8, 40, 400]))
            batches.append(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        return batches
    }
}
