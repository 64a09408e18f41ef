import Foundation
import ServiceRuntime
import TestSupport
import Testing

@Suite("A commit is broken off within PostgreSQL")
struct CommitFaultTests {
    @Test(
        "in the midst of COPY, under the head's lock or within COMMIT: service, backend or server die, and nothing is lost or doubled"
    )
    func broken() throws {
        let shop = try EmbeddedShop()
        let bellwether = shop.bellwether
        var service = try bellwether.serve()
        let url = try #require(bellwether.url)
        let gates = try Gates(url: url)
        let load = Load(on: service, key: shop.key)
        for gate in Gates.Gate.allCases {
            #expect(load.isServed())
            // The service dies; its backend does not know, and goes on when the gate opens: what it commits, nobody was told.
            try gates.shut(gate) { _ in try service.kill() }
            service = try bellwether.serve()
            load.turn(to: service)
            #expect(load.isServed())
            // A statement is cancelled, as by `statement_timeout`.
            try gates.shut(gate) { backends in for backend in backends { #expect(kill(backend, SIGINT) == 0) } }
            #expect(load.isServed())
            // A backend is ended.
            try gates.shut(gate) { backends in for backend in backends { #expect(kill(backend, SIGTERM) == 0) } }
            #expect(load.isServed())
            // The server is restarted, at once or by way of crash recovery.
            for signal in FaultLength.isLong ? [SIGINT, SIGQUIT] : [gate == .copy ? SIGINT : SIGQUIT] {
                try gates.shut(gate) { _ in
                    let server = try #require(bellwether.postmaster)
                    #expect(kill(server, signal) == 0)
                    let gone = eventually { !ProcessTable.isAlive(server) }
                    #expect(gone)
                }
                #expect(load.isServed(), "\(gate), \(signal): \(service.log.suffix(2000))")
            }
        }
        try service.waitUntilReady()
        try Laws.check(load, url: try #require(bellwether.url))
        #expect(try service.stop() == 0)
    }
}
