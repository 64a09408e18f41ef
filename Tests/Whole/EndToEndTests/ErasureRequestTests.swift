import Accounts
import EventLog
import Foundation
import Glibc
import Postgres
import ProjectFolder
import TestSupport
import Testing
import Values

@Suite("An app's server has an install erased")
struct ErasureRequestTests {
    private let install = Wire.id()

    private func delete(_ install: String, key: String?, on client: HTTPClient) throws -> RawClient.Answer {
        try client.send(
            "DELETE", "/v1/installs/\(install)", headers: key.map { ["Authorization": "Bearer \($0)"] } ?? [:])
    }

    private func serverKey(of app: TestApp, in database: TestDatabase) throws -> String {
        var connection = try database.connect()
        return try APIKeys.add(to: app.slug, kind: .server, name: nil, on: &connection).secret
    }

    private func object(_ answer: RawClient.Answer) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any], "\(answer)")
    }

    /// Asks until it is done, as a server does, and returns the receipt.
    private func receipt(_ install: String, key: String, from service: RunningService) throws -> [String: Any] {
        var last: RawClient.Answer?
        let isDone = try eventually {
            last = try delete(install, key: key, on: service.client())
            return last?.status == 200
        }
        #expect(isDone, "\(String(describing: last)) \(service.log)")
        return try object(try #require(last))
    }

    /// Three events of the install in two deliveries, a rejected one, and a report of dropped ones.
    private func fill(_ shop: ProjectedShop, _ install: String) throws {
        try shop.postDeliveries(of: install)
        try shop.postLosses(of: install)
    }

    private func counts(_ receipt: [String: Any]) -> [Int?] {
        ["events", "deliveries", "rejected", "drop_reports"].map { receipt[$0] as? Int }
    }

    private func expectGone(_ install: String, of app: String, in database: TestDatabase) throws {
        for view in ["events", "deliveries", "rejected_events", "client_drops"] {
            let left = try database.analystRows(
                "SELECT FROM \(view) WHERE install_id = '\(install)' AND app = '\(app)'")
            #expect(left.isEmpty, "\(view)")
        }
    }

    @Test("answers with the receipt of erase, however often it is asked; others keep what they have")
    func erased() throws {
        try ProjectedShop.open { shop in
            let other = Wire.id()
            for install in [install, other] { try fill(shop, install) }
            // The same id in another app is another install.
            let stranger = try shop.database.makeApp("stranger")
            let envelope = Wire.envelope(install: install, Wire.event())
            #expect(try shop.service.client().post(envelope, key: stranger.secret).status == 200)
            #expect(try shop.becomesLevel())
            let key = try serverKey(of: shop.app, in: shop.database)

            let first = try delete(install.uppercased(), key: key, on: shop.service.client())
            #expect(first["content-type"] == "application/json")
            // Mostly the first answer is the receipt.
            #expect(first.status == 200 || first.status == 202, "\(first)")
            let receipt = try receipt(install, key: key, from: shop.service)
            #expect(receipt["app"] as? String == "shop" && receipt["install_id"] as? String == install)
            #expect(counts(receipt) == [3, 2, 1, 1], "\(receipt)")
            #expect(receipt["fcm_export_rows"] as? Int == 0 && receipt["stopped"] as? [String] == [])
            let erasedAt = try #require(receipt["erased_at"] as? String)
            let again = try object(try delete(install, key: key, on: shop.service.client()))
            #expect(again["erased_at"] as? String == erasedAt && counts(again) == [3, 2, 1, 1])

            try expectGone(install, of: "shop", in: shop.database)
            #expect(try shop.send(install, [Wire.event()]).results.map(\.reason) == ["erased"])
            #expect(
                try shop.database.analystRows("SELECT app, count(*) FROM events GROUP BY app ORDER BY app") == [
                    "(shop,3)", "(stranger,1)",
                ])
            try shop.expectProved()

            // An id that was never seen is erased all the same: its events may be on their way.
            let unseen = Wire.id()
            #expect(counts(try self.receipt(unseen, key: key, from: shop.service)) == [0, 0, 0, 0])
            #expect(try shop.send(unseen, [Wire.event()]).results.map(\.reason) == ["erased"])
            let isTold = try eventually {
                try shop.service.client().get("/metrics").body.contains("\nbellwether_erasures_waiting 0\n")
            }
            #expect(isTold)
            #expect(try !shop.bellwether.trusted("status").contains("unfinished"))
        }
    }

    @Test("an hour after its receipt was read it begins anew; the new receipt counts all that was ever removed")
    func anew() throws {
        try ProjectedShop.open { shop in
            try fill(shop, install)
            // The receipt counts the deliveries that the funnels knew.
            #expect(try shop.becomesLevel())
            let key = try serverKey(of: shop.app, in: shop.database)
            #expect(counts(try receipt(install, key: key, from: shop.service)) == [3, 2, 1, 1])
            // It goes on with the same id.
            let present = Date(timeIntervalSinceNow: 1).ISO8601Format(.init(includingFractionalSeconds: true))
            try shop.post(install, Wire.event(at: present))
            #expect(counts(try receipt(install, key: key, from: shop.service)) == [3, 2, 1, 1])
            #expect(try shop.database.analystRows("SELECT FROM events WHERE install_id = '\(install)'").count == 1)
            #expect(try shop.becomesLevel())
            try shop.database.run("UPDATE log.erasure_request SET told_at = told_at - interval '61 minutes'")
            #expect(counts(try receipt(install, key: key, from: shop.service)) == [4, 3, 1, 1])
            try expectGone(install, of: "shop", in: shop.database)
            try shop.expectProved()
        }
    }

    @Test("only a server key of the app opens it, and only for DELETE of an id")
    func refused() throws {
        let shared = try SharedService.get()
        let app = try shared.makeApp()
        let client = shared.service.client()
        let key = try serverKey(of: app, in: shared.database)
        func code(_ key: String?) throws -> String? { try delete(install, key: key, on: client).problem?.code }
        #expect(try code(nil) == "missing_key")
        #expect(try code("bws_nobody") == "unknown_key")
        #expect(try code(app.secret) == "wrong_key_kind")
        let missing = try delete(install, key: nil, on: client)
        #expect(missing.status == 401 && missing.problem?.detail.contains("server key") == true, "\(missing)")
        for method in ["GET", "POST", "PUT"] {
            let answer = try client.send(method, "/v1/installs/\(install)", headers: ["Authorization": "Bearer \(key)"])
            #expect(answer.status == 405 && answer["allow"] == "DELETE", "\(answer)")
        }
        for id in ["", "x", install + "/events", String(install.dropLast())] {
            let answer = try delete(id, key: key, on: client)
            #expect(answer.status == 404 && answer.problem?.code == "unknown_path", "\(id): \(answer)")
        }
        // A body means nothing.
        let answer = try client.send(
            "DELETE", "/v1/installs/\(install)", headers: ["Authorization": "Bearer \(key)"], body: Array("{}".utf8))
        #expect([200, 202].contains(answer.status), "\(answer)")
        #expect(try shared.bellwether.run("app", "key", "revoke", app.slug, "server").status == 0)
        #expect(try eventually { try code(key) == "revoked_key" })
    }

    @Test("the login of ingestion cannot have anything erased by itself")
    func proof() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let secret = try serverKey(of: app, in: database)
        var ingest = try database.session(.ingest)
        let keys: [Int32] = try database.column("SELECT id FROM log.api_key ORDER BY id")
        let hashes: [Bytea] = try ingest.query("SELECT erasure_hash FROM log.api_key WHERE kind = 'server'").map {
            try $0.get(0)
        }
        let install = Values.UUID.random()
        for key in keys {
            for proof in [Bytea([]), hashes[0], Bytea(Array(secret.utf8))] {
                let error = #expect(throws: PostgresError.self) {
                    try ingest.query("SELECT log.request_erasure(\(key), \(proof), \(install))")
                }
                #expect(error?.state == .insufficientPrivilege)
            }
        }
        for script in [
            "INSERT INTO log.erasure_request DEFAULT VALUES", "DELETE FROM log.erasure_request",
            "SELECT log.begin_erasure(1, '\(install)')", "UPDATE log.api_key SET erasure_hash = NULL",
        ] {
            let error = #expect(throws: PostgresError.self) { try ingest.execute(script: script) }
            #expect(error?.state == .insufficientPrivilege, "\(script)")
        }
        #expect(try database.value("SELECT count(*) FROM log.erasure_request", as: Int64.self) == 0)
        let proof = APIKeys.erasureProof(of: secret).bytes
        guard case .waiting = try ErasureRequest.submit(install, key: keys[1], proof: proof, on: &ingest) else {
            Issue.record("it does not wait")
            return
        }
    }

    @Test(
        "a service that is killed in the midst of it leaves a request that the next one performs, with the whole receipt",
        arguments: ["erasure taken", "install erased", "erasure performed"])
    func killed(point: String) throws {
        try ProjectedShop.open("--only", "ingest") { shop in
            try fill(shop, install)
            #expect(try shop.bellwether.run("project", "--once").status == 0)
            let key = try serverKey(of: shop.app, in: shop.database)
            #expect(try delete(install, key: key, on: shop.service.client()).status == 202)
            let dying = try shop.bellwether.dying(at: point).start(["serve", "--only", "project", "--listen", ":0"])
            #expect(try dying.wait().status == 128 + SIGKILL, "\(dying.messages)")
            #expect(try delete(install, key: key, on: shop.service.client()).status == 202)
            let next = try shop.bellwether.serve("--only", "project")
            #expect(counts(try receipt(install, key: key, from: shop.service)) == [3, 2, 1, 1])
            try expectGone(install, of: "shop", in: shop.database)
            #expect(try next.stop() == 0)
            try shop.expectProved()
        }
    }

    @Test("a service that stops interrupts it at once, and the command of the owner ends it")
    func stopped() throws {
        try ProjectedShop.open("--only", "ingest") { shop in
            try fill(shop, install)
            #expect(try shop.bellwether.run("project", "--once").status == 0)
            let key = try serverKey(of: shop.app, in: shop.database)
            #expect(try delete(install, key: key, on: shop.service.client()).status == 202)
            var blocker = try shop.database.connect()
            try blocker.execute(script: "BEGIN; SELECT FROM projection.progress FOR UPDATE")
            let project = try shop.bellwether.serve("--only", "project")
            #expect(try eventually { try shop.bellwether.trusted("status").contains("unfinished: the erasure") })
            let doctor = try shop.bellwether.run("doctor").output
            #expect(doctor.contains("1 more (bellwether status)"), "\(doctor)")
            #expect(try project.stop() == 0)
            try blocker.execute(script: "COMMIT")
            #expect(try delete(install, key: key, on: shop.service.client()).status == 202)
            let ended = try shop.bellwether.run("erase", "--requested", "--format", "json")
            #expect(ended.status == 0 && ended.output.contains(#""events":3,"deliveries":2"#), "\(ended)")
            let none = try shop.bellwether.run("erase", "--requested")
            #expect(none.status == 0 && none.output.isEmpty && none.messages.isEmpty, "\(none)")
            #expect(try shop.bellwether.run("erase", "--requested", "--app", "shop").status == 64)
            #expect(counts(try receipt(install, key: key, from: shop.service)) == [3, 2, 1, 1])
            try shop.expectProved()
        }
    }

    @Test("whoever has the owner's rights performs them, such as a superuser")
    func byOthers() throws {
        try ProjectedShop.open("--only", "ingest") { shop in
            try fill(shop, install)
            #expect(try shop.bellwether.run("project", "--once").status == 0)
            let key = try serverKey(of: shop.app, in: shop.database)
            let first = try delete(install, key: key, on: shop.service.client())
            #expect(first.status == 202 && first["retry-after"] == "5", "\(first)")
            #expect(first["content-type"] == "application/json")
            let waiting = try object(first)
            #expect(waiting["state"] as? String == "waiting" && waiting["install_id"] as? String == install)
            #expect(waiting["app"] as? String == "shop" && waiting["requested_at"] as? String != nil)
            let ended = try Bellwether(database: shop.database.url(as: "postgres")).run("erase", "--requested")
            #expect(ended.status == 0 && ended.output.contains("Erased install \(install)"), "\(ended)")
            #expect(counts(try receipt(install, key: key, from: shop.service)) == [3, 2, 1, 1])
            try shop.expectProved()
        }
    }

    @Test("the documents say how many may wait") func documented() throws {
        let most = ErasureRequest.most.formatted(.number.locale(Locale(identifier: "en_US")))
        for file in ["Docs/API.md", "Docs/Security.md"] {
            let said = try ProjectFolder.text(of: file).matches(of: /([0-9,]+) erasures of (the|an) app/).map(\.1)
            #expect(said.map(String.init) == [most], "\(file)")
        }
    }

    @Test("thousands of requests for ids that nobody has: a bounded number waits, and another app has its turn")
    func flood() throws {
        try ProjectedShop.open("--only", "ingest") { shop in
            let key = try serverKey(of: shop.app, in: shop.database)
            let client = shop.service.client()
            var statuses: [Int: Int] = [:]
            var refused: RawClient.Answer?
            for _ in 0..<(2 * ErasureRequest.most) {
                let answer = try delete(Wire.id(), key: key, on: client)
                statuses[answer.status, default: 0] += 1
                if answer.status == 429 { refused = answer }
            }
            #expect(statuses == [202: ErasureRequest.most, 429: ErasureRequest.most], "\(statuses)")
            #expect(refused?.problem?.code == "rate_limited" && refused?["retry-after"] == "60")
            #expect(
                try shop.database.value("SELECT count(*) FROM log.erasure_request", as: Int64.self)
                    == Int64(ErasureRequest.most))
            let other = try shop.database.makeApp("other")
            let own = try serverKey(of: other, in: shop.database)
            #expect(try delete(install, key: own, on: client).status == 202)
            let project = try shop.bellwether.serve("--only", "project")
            // After one of the flood at most: the rest of it still waits.
            #expect(try receipt(install, key: own, from: shop.service)["app"] as? String == "other")
            #expect(
                try shop.database.value(
                    "SELECT count(*) FROM log.erasure_request WHERE finished_at IS NULL", as: Int64.self) > 0)
            #expect(try project.stop() == 0)
        }
    }
}
