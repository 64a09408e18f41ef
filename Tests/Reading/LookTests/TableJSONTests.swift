import Accounts
import CatalogueSupport
import EventLog
import Foundation
import HTTPServer
import Postgres
import ProjectFolder
import Projections
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@testable import Look

@Suite("Tables as JSON") struct TableJSONTests {
    private static func object(_ answer: RawClient.Answer) throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any], "\(answer.body)")
    }

    private static func code(_ answer: RawClient.Answer) throws -> String? {
        #expect(answer["content-type"] == "application/problem+json")
        let problem = try object(answer)
        #expect(problem["status"] as? Int == answer.status && problem["detail"] as? String != "")
        return problem["code"] as? String
    }

    @Test(
        "every table of every page is there, with its SQL, and what each column is and means; and has the rows of the CSV file"
    )
    func everyTable() throws {
        let shop = try LookedAt.get()
        let client = shop.client
        let head = try shop.database.value("SELECT max(number) FROM log.batch", as: Int64.self)
        var seen: Set<String> = []
        let live = PageState(.live, app: "shop")
        for page in PagesTests.addresses(shop) + [live] {
            var state = page
            (state.table, state.format) = (nil, .json)
            let index = try Self.object(client.get(state.address))
            let tables = try #require(index["tables"] as? [[String: String]], "\(state.address)")
            let shown = try client.get(page.address).body
            for table in tables {
                let (name, address) = (try #require(table["table"]), try #require(table["address"]))
                // Those that scan deliveries or goals are read when somebody asks for them.
                let isScanned = ["versions", "hours", "pressure", "reached", "by_category"].contains(name)
                if !isScanned || page.table == name {
                    let linked = shown.contains("table=\(name)&amp;format=json")
                    #expect(linked, "\(address) stands on its page")
                }
                // The other names of a page have the same tables.
                let first = seen.insert(
                    "\(page.page) \(name) \(page.filters.keys.map(\.rawValue).sorted()) \(page.step)"
                ).inserted
                guard first else { continue }
                let answer = try client.get(address)
                try #require(answer.status == 200, "\(address): \(answer.body)")
                #expect(answer["content-type"] == "application/json")
                let said = try Self.object(answer)
                #expect(said["table"] as? String == name && said["position"] as? String == "\(head)")
                #expect((said["sql"] as? String)?.hasSuffix("LIMIT 10000") == true && said["is_cut"] as? Bool == false)
                let columns = try #require(said["columns"] as? [[String: Any]])
                for column in columns {
                    #expect(column["meaning"] as? String != nil, "\(address): \(column)")
                    #expect(column["type"] as? String != nil)
                }
                let rows = try #require(said["rows"] as? [[Any]])
                #expect(rows.allSatisfy { $0.count == columns.count })
                let csv = try client.get(address.replacing("format=json", with: "format=csv")).body
                #expect(
                    csv.hasPrefix(columns.compactMap { $0["name"] as? String }.joined(separator: ",") + "\r\n"),
                    "\(address)")
                if !rows.joined().contains(where: { ($0 as? String)?.contains("\n") == true }) {
                    #expect(csv.components(separatedBy: "\r\n").count == rows.count + 2, "\(address)")
                }
            }
        }
        #expect(seen.count > 20)
    }

    @Test("figures are numbers, days and times are text; settled days, compared days and the zone are told")
    func values() throws {
        let shop = try LookedAt.get()
        let said = try Self.object(shop.client.get("/app/shop?table=trend&format=json"))
        let names = try #require(said["columns"] as? [[String: String]]).compactMap { $0["name"] }
        let rows = try #require(said["rows"] as? [[Any]])
        let row = try #require(rows.first)
        #expect(row[try #require(names.firstIndex(of: "day"))] is String)
        #expect(row[try #require(names.firstIndex(of: "delivered"))] as? Int ?? 0 > 0)
        #expect(row[try #require(names.firstIndex(of: "response_rate"))] is Double)
        #expect(row.count == names.count)
        #expect(said["time_zone"] as? String == "UTC")
        let settled = try #require(said["settled"] as? [String: Any])
        #expect(settled["all"] is Bool && (settled["words"] as? String)?.isEmpty == false)
        #expect((said["days"] as? [String: String])?["first"] != nil)
        let meanings = try #require(said["columns"] as? [[String: String]])
        #expect(meanings.first { $0["name"] == "told_delivered" }?["meaning"]?.contains("first final report") == true)
    }

    @Test("a tag says whether a table is what it was; it changes with the log")
    func tags() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp("shop")
        let look = try LookedAt.open(database)
        defer { look.stop(deadline: .now) }
        let (client, address) = (HTTPClient(look), "/app/shop?table=totals&format=json")
        let first = try client.get(address)
        let tag = try #require(first["etag"])
        #expect(tag.hasPrefix("W/\"0-") && first["cache-control"] == "private, no-cache")
        for known in [tag, "\"other\", \(tag)", String(tag.dropFirst(2)), "*"] {
            for encoding in ["gzip", "identity"] {
                let again = try client.get(address, headers: ["If-None-Match": known, "Accept-Encoding": encoding])
                #expect(again.status == 304 && again.body.isEmpty && again["etag"] == tag, "\(known)")
            }
        }
        #expect(try client.get(address, headers: ["If-None-Match": "\"0-0\""]).status == 200)
        let now = WallClock.now
        _ = try database.appender().append([app.submission([.sample(at: now, receivedAt: now)], receivedAt: now)])
        _ = try ProjectionControl(url: try database.url(), log: .silent).catchUp()
        let changed = try client.get(address, headers: ["If-None-Match": tag])
        #expect(changed.status == 200 && changed["etag"]?.hasPrefix("W/\"1-") == true)
        // A page is no table.
        #expect(try client.get("/app/shop")["etag"] == nil)
    }

    @Test(
        "a program shows its key with each request, and errors have codes; a wrong key is told from none, and many wrong ones wait"
    )
    func programs() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        _ = try database.makeApp("shop")
        _ = try database.makeApp("other")
        var owner = try database.connect()
        let secret = try ReaderKeys.add(name: "program", apps: ["shop"], on: &owner).secret
        let look = try LookedAt.open(database)
        defer { look.stop(deadline: .now) }
        let client = HTTPClient(look)
        let mine = ["Authorization": "Bearer \(secret)"]
        let table = "/app/shop?table=totals&format=json"
        #expect(try eventually { try client.get(table).status == 401 })
        #expect(try Self.object(client.get(table, headers: mine))["app"] as? String == "shop")
        #expect(try client.get(table, headers: ["Authorization": "bearer  \(secret)"]).status == 200)
        // Pages and files, too.
        #expect(try client.get("/app/shop", headers: mine).status == 200)
        #expect(try client.get("/app/shop?table=totals&format=csv", headers: mine).status == 200)
        let none = try client.get(table)
        #expect(none["www-authenticate"] == "Bearer")
        #expect(try Self.code(none) == "missing_key")
        for (address, status, code) in [
            ("/app/other?format=json", 404, "unknown_app"), ("/app/none?format=json", 404, "unknown_app"),
            ("/app/shop?table=none&format=json", 404, "unknown_table"), ("/nowhere", 404, "unknown_page"),
            ("/app/shop?format=xml", 400, "invalid_address"), ("/app/shop?from=x&format=json", 400, "invalid_address"),
        ] {
            let answer = try client.get(address, headers: mine)
            #expect(answer.status == status, "\(address)")
            #expect(try Self.code(answer) == code, "\(address)")
        }
        let posted = try client.send("POST", table, headers: mine, body: [])
        #expect(posted.status == 405 && posted["allow"] == "GET, HEAD")
        #expect(try Self.code(posted) == "method_not_allowed")
        // A person is led to the form, and may send a cookie that is none.
        #expect(try client.get("/app/shop").status == 303)
        for _ in 0..<10 {
            #expect(try Self.code(client.get(table, headers: ["Authorization": "Bearer bwr_wrong"])) == "unknown_key")
        }
        let late = try client.get(table, headers: ["Authorization": "Bearer bwr_wrong"])
        #expect(late.status == 429 && late["retry-after"] == "60")
        #expect(try Self.code(late) == "too_many_guesses")
        #expect(try client.get(table, headers: mine).status == 200, "a right key is not held up by them")
        try ReaderKeys.revoke(name: "program", on: &owner)
        #expect(try eventually(within: 6) { try client.get(table, headers: mine).status == 403 })
    }
}

/// The description is made by the program; the file of the documents is a copy for whoever has no program at hand.
@Suite struct LookDescriptionGeneratedTests {
    @Test("the committed description is what the program serves") func committed() throws {
        let file = ProjectFolder.url.appendingPathComponent("Docs/look.openapi.yaml")
        if ProcessInfo.processInfo.environment["BELLWETHER_REGENERATE"] != nil {
            try LookDescription.text.write(to: file, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: file, encoding: .utf8) == LookDescription.text, "run make generated")
        let shop = try LookedAt.get()
        let served = try shop.client.get(LookDescription.path)
        #expect(
            served.status == 200 && served["content-type"] == "application/yaml" && served.body == LookDescription.text)
        for code in Notice.Code.allCases { #expect(LookDescription.text.contains(code.rawValue), "\(code)") }
    }
}
