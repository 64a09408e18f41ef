import Foundation
import Postgres
import ServiceRuntime
import TestSupport
import Testing

@Suite("A transaction is broken off within PostgreSQL")
struct CommitFaultTests {
    @Test(
        "in the midst of COPY, under the head's lock or within COMMIT: service, backend or server die, and nothing is lost or doubled"
    )
    func broken() throws { try breakOff(at: Gates.Gate.writing) }

    @Test(
        "in the midst of a projector's step, or within its COMMIT: service, backend or server die, and nothing counts twice or never"
    )
    func brokenStep() throws { try breakOff(at: Gates.Gate.projecting) }

    private func breakOff(at places: [Gates.Gate]) throws {
        let shop = try EmbeddedShop()
        let bellwether = shop.bellwether
        var service = try bellwether.serve()
        let url = try #require(bellwether.url)
        let gates = try Gates(url: url)
        let load = Load(on: service, key: shop.key)
        for gate in places {
            #expect(load.isServed())
            // The service dies; its backend does not know, and goes on when the gate opens: what it commits, nobody was
            // told.
            try gates.shut(gate) { _ in try service.kill() }
            service = try bellwether.serve()
            load.turn(to: service)
            #expect(try load.isServed() && follows(url))
            // A statement is cancelled, as by `statement_timeout`.
            try gates.shut(gate) { backends in for backend in backends { #expect(kill(backend, SIGINT) == 0) } }
            #expect(try load.isServed() && follows(url), "\(gate), cancelled: \(service.log.suffix(2000))")
            // A backend is ended.
            try gates.shut(gate) { backends in for backend in backends { #expect(kill(backend, SIGTERM) == 0) } }
            #expect(try load.isServed() && follows(url), "\(gate), ended: \(service.log.suffix(2000))")
            // The server is restarted, at once or by way of crash recovery.
            for signal in FaultLength.isLong ? [SIGINT, SIGQUIT] : [[.copy, .step].contains(gate) ? SIGINT : SIGQUIT] {
                try gates.shut(gate) { _ in
                    let server = try #require(bellwether.postmaster)
                    #expect(kill(server, signal) == 0)
                    let gone = eventually { !ProcessTable.isAlive(server) }
                    #expect(gone)
                }
                #expect(try load.isServed() && follows(url), "\(gate), \(signal): \(service.log.suffix(2000))")
            }
        }
        try service.waitUntilReady()
        try Laws.check(load, url: try #require(bellwether.url))
        #expect(try service.stop() == 0)
    }

    /// The running service brings the funnels to where the log stands now.
    private func follows(_ url: String) throws -> Bool {
        var connection = try Connection(url: url)
        connection.deadline = .after(seconds: 120)
        let head: Int64 = try connection.query("SELECT max(number) FROM log.batch")[0].get(0)
        return try eventually {
            try connection.query("SELECT min(position) FROM projection.progress")[0].get(0, as: Int64.self) >= head
        }
    }
}
