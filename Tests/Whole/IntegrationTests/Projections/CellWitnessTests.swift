import Accounts
import CatalogueSupport
import Envelopes
import EventLog
import Postgres
import Telemetry
import TestSupport
import Testing

@Suite("What others saw in a cell")
struct CellWitnessTests {
    @Test(
        "nobody's word marks a cell as restored for good: what cannot have been seen is not believed, the rest is settled"
    )
    func believed() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        _ = try database.appender().append([database.makeApp().submission([Event.sample()])])
        var owner = try database.connect()
        func isLacking(_ call: Statement) throws -> Bool {
            try database.lending(.ingest) { connection in try connection.query(call)[0].get(0) }
        }
        // What is there, and what nobody can have seen.
        #expect(try !isLacking("SELECT cluster.lacks_batch(number, committed_at) FROM log.batch"))
        #expect(try !isLacking("SELECT cluster.lacks_batch(NULL, now())"))
        #expect(try !isLacking("SELECT cluster.lacks_batch(1, NULL)"))
        #expect(try !isLacking("SELECT cluster.lacks_batch(1, 'infinity')"))
        #expect(try !isLacking("SELECT cluster.lacks_batch(1, now() + interval '2 hours')"))
        #expect(try CellWitness.lost(on: &owner) == nil)
        // The clock of the lost time may have been ahead.
        #expect(try isLacking("SELECT cluster.lacks_batch(7, now() + interval '30 minutes')"))
        #expect(try CellWitness.lost(on: &owner)?.batch == 7)
        let again: Statement = "SELECT cluster.lacks_batch(7, lost_committed_at) FROM cluster.state"
        #expect(try isLacking(again))
        let seen: String = try owner.query("SELECT lost_committed_at::text FROM cluster.state")[0].get(0)
        try CellWitness.settle(on: &owner)
        #expect(try CellWitness.lost(on: &owner) == nil)
        #expect(try !isLacking("SELECT cluster.lacks_batch(7, \(seen)::text::timestamptz)"))
    }
}
