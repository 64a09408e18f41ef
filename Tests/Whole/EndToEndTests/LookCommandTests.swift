import Foundation
import Glibc
import TestSupport
import Testing

/// The real program, as people start it.
@Suite("Looking") struct LookCommandTests {
    private let shared: SharedService

    init() throws { shared = try SharedService.get() }

    /// Waits until it says where it serves its pages.
    private func door(of process: ChildProcess) throws -> HTTPClient {
        #expect(eventually { process.messages.contains("\"looking\"") || !process.isRunning })
        let said = try #require(
            process.messages.firstMatch(of: /"looking","address":"[0-9.]+:([0-9]+)"/), "\(process.messages)")
        return HTTPClient(port: try #require(UInt16(said.1)))
    }

    @Test("look serves pages to this machine, keys close them, and it ends well") func look() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        _ = try database.makeApp("shop")
        let bellwether = try Bellwether(database)
        let process = try bellwether.start(["look", "--listen", "127.0.0.1:0", "--host", "bellwether"])
        let client = try door(of: process)
        // A page that takes over half a second answers 202 first.
        let isShown = try eventually {
            let answer = try client.get("/")
            return answer.status == 200 && answer.body.contains("/app/shop")
        }
        #expect(isShown)

        let added = try bellwether.run("look", "key", "add", "growth")
        let key = String(added.output.dropLast())
        #expect(added.status == 0 && key.hasPrefix("bwr_") && added.messages.contains("shown only once"))
        #expect(try bellwether.run("look", "key", "add", "growth").status == 1)
        #expect(try bellwether.trusted("look", "key", "list").contains("growth"))
        #expect(try eventually { try client.get("/").status == 303 })
        let form = ["Content-Type": "application/x-www-form-urlencoded"]
        let cookie = try #require(
            client.send("POST", "/sign-in", headers: form, body: Array("key=\(key)".utf8))["set-cookie"])
        let mine = ["Cookie": String(cookie.prefix { $0 != ";" })]
        #expect(try eventually { try client.get("/app/shop", headers: mine).status == 200 })
        #expect(try bellwether.run("look", "key", "revoke", "growth").status == 0)
        #expect(try eventually { ![200, 202].contains(try client.get("/app/shop", headers: mine).status) })
        #expect(!process.messages.contains(key), "no log has a key")
        process.signal(SIGTERM)
        #expect(try process.wait(within: 60).status == 0)
    }

    @Test("for other machines it needs a key, and says when there is no TLS") func others() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let bellwether = try Bellwether(database)
        let refused = try bellwether.run("look", "--listen", "0.0.0.0:0")
        #expect(refused.status == 1 && refused.messages.contains("bellwether look key add NAME"), "\(refused.messages)")
        _ = try bellwether.trusted("look", "key", "add", "growth")
        let process = try bellwether.start(["look", "--listen", "0.0.0.0:0"])
        #expect(try door(of: process).get("/").status != 200)
        #expect(process.messages.contains("no TLS"))
        process.signal(SIGTERM)
        #expect(try process.wait(within: 60).status == 0)
    }

    @Test("serve runs it beside; a browser at the ingestion port is told where to look, without a figure") func beside()
        throws
    {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp("shop")
        let service = try Bellwether(database).serve("--look", "127.0.0.1:0")
        defer { _ = try? service.stop() }
        let pages = try door(of: service.process)
        let at = ISO8601DateFormatter().string(from: Date())
        #expect(
            try service.client().post(Wire.envelope(Wire.event(at: at)), key: app.secret).results.accepted == 1)
        let isShown = try eventually {
            let page = try RawPage.get("/app/shop/live", of: pages)
            return page.contains("notification.opened") && page.contains("First opening.</b> 1 in four weeks")
        }
        #expect(isShown)
        let front = try service.client().get("/", headers: ["Accept": "text/html,*/*"])
        #expect(front.status == 200 && front["content-type"]?.hasPrefix("text/html") == true)
        let said = try #require(service.log.firstMatch(of: /"looking","address":"([0-9.:]+)"/)).1
        #expect(front.body.contains(said) && front["content-security-policy"]?.hasPrefix("default-src 'none'") == true)
        // For anything but a browser there is nothing there.
        #expect(try service.client().get("/").status == 404)
        let alone = try shared.service.client().get("/", headers: ["Accept": "text/html"])
        #expect(alone.body.contains("bellwether look") && !alone.body.contains(said))
    }

    @Test("behind a password that may not read keys it says what to grant") func rights() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let refused = try Bellwether(database: database.url(as: TestPostgres.analyst)).run(
            "look", "--listen", "127.0.0.1:0")
        #expect(refused.status == 1 && refused.messages.contains("GRANT bellwether_look"), "\(refused.messages)")
    }
}

/// A page for this machine: the usual client names another one.
private enum RawPage {
    static func get(_ path: String, of client: HTTPClient) throws -> String {
        try client.get(path, headers: ["Host": "localhost"]).body
    }
}
