import Foundation
import ServiceRuntime
import TestSupport
import Testing

/// Two services on one embedded database, as durable as an operator's. They come and go; whoever wants to reach one
/// asks for its door anew.
final class Household: Sendable {
    let bellwether: Bellwether
    let key: String
    let serverKey: String
    private let shop: EmbeddedShop
    private let services: Lock<[RunningService]>

    init() throws {
        shop = try EmbeddedShop()
        bellwether = shop.bellwether
        key = shop.key
        services = Lock([try bellwether.serve(), try bellwether.serve()])
        serverKey = String(try bellwether.trusted("app", "key", "add", Self.app, "--server").dropLast())
    }

    /// The slug of its one app.
    static let app = "shop"

    subscript(number: Int) -> RunningService { services.withLock { $0[number] } }

    /// How to reach one, whichever process it is by then.
    func door(_ number: Int) -> Load.Door { { self[number].client() } }

    /// Puts a new process in the place of one that has ended.
    func restart(_ number: Int) throws {
        let fresh = try bellwether.serve(waitsUntilReady: false)
        services.withLock { $0[number] = fresh }
    }

    /// The first process of the database, waited for: somebody is about to start it.
    func postmaster() throws -> pid_t {
        var found: pid_t?
        let isThere = eventually {
            found = bellwether.postmaster.flatMap { ProcessTable.isAlive($0) ? $0 : nil }
            return found != nil
        }
        try #require(isThere, "there is no server")
        return try #require(found)
    }

    /// Ends both as an operator does, and with the last of them the database.
    func close() throws {
        for service in services.withLock({ $0 }) { #expect(try service.stop() == 0) }
        #expect(bellwether.postmaster == nil)
    }
}
