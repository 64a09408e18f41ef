import FunnelOracle
import Postgres
import Projections
import TestSupport
import Testing

@Suite("Recounting by SQL")
struct RecountTests {
    @Test("makes of random histories what the contract's own words make of them", arguments: 0..<4)
    func histories(_ part: UInt64) throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let stored = try StoredHistories(seeds: part * 100..<(part + 1) * 100, in: database)
        let differences = Array(stored.differences(in: try RecountedTables(of: database).tables).prefix(20))
        #expect(differences == [])
    }
}
