import Foundation
import Postgres
import ProjectFolder
import TestSupport
import Testing

@Suite("Categories, as commands and over HTTP")
struct CategoriesTests {
    private static let examples = ProjectFolder.path + "/Examples/categories"

    private static let info =
        #"{"categories":[{"id":"INFO_CATEGORY","actions":[{"id":"VIEW","titles":{"en":"View"}},{"id":"CLOSE","titles":{"en":"Close"},"answer":"close"}]}]}"#

    private let shared: SharedService
    private let bellwether: Bellwether
    private let app: TestApp

    init() throws {
        shared = try SharedService.get()
        bellwether = try shared.bellwether
        app = try shared.makeApp()
    }

    private func serverKey() throws -> String {
        String(try bellwether.trusted("app", "key", "add", app.slug, "--server").dropLast())
    }

    private func put(_ body: [UInt8], key: String?, headers: [String: String] = [:]) throws -> RawClient.Answer {
        var fields = ["Content-Type": "application/json"]
        fields["Authorization"] = key.map { "Bearer \($0)" }
        return try shared.service.client().send(
            "PUT", "/v1/categories", headers: fields.merging(headers) { $1 }, body: body)
    }

    @Test("the examples are imported, unchanged the second time, listed, and checked")
    func examples() throws {
        let own = "\(Self.examples)/categories.json"
        #expect(
            try bellwether.trusted("categories", "import", "--app", app.slug, own)
                == "Edition 1 of '\(app.slug)', set 'own': 2 categories, 5 buttons\nnewly registered buttons: 5, retired: 0\n"
        )
        #expect(
            try bellwether.trusted("categories", "import", own, "--app", app.slug)
                == "nothing changed: the set 'own' of '\(app.slug)' is still edition 1, 2 categories, 5 buttons\n")
        let hive = try bellwether.trusted(
            "categories", "import", "--app", app.slug, "--format", "json", "\(Self.examples)/hive_push_actions.json")
        #expect(hive == #"{"edition":2,"categories":2,"buttons":4,"unchanged":false,"warnings":[]}"# + "\n")
        _ = try bellwether.trusted("categories", "import", "--app", app.slug, "--preset", "pushwoosh-stories")
        let listed = try bellwether.trusted("categories", "list", "--app", app.slug).split(separator: "\n")
        #expect(listed.count == 1 + 9 + 1)
        #expect(
            listed.map { $0.split(separator: " ").joined(separator: " ") }.dropFirst().prefix(3) == [
                "GUILD_CATEGORY hive 2 1 JOIN Join 0 0 too_few",
                "GUILD_CATEGORY hive 2 2 PASS Not now 0 0 too_few",
                "INFO_CATEGORY own 1 1 VIEW View accept 0 0 too_few",
            ])
        let json = try bellwether.trusted("categories", "list", "--app", app.slug, "--format", "json")
        let lines = try json.split(separator: "\n").map { line in
            try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        #expect(
            lines.map { $0["category"] as? String } == [
                "GUILD_CATEGORY", "INFO_CATEGORY", "PW_STORIES", "RAID_CATEGORY", "SALE_CATEGORY",
            ])
        let check = try bellwether.run("categories", "check", "--app", app.slug)
        #expect(check.status == 0)
        #expect(
            check.output
                == "'\(app.slug)' has 5 categories with 9 buttons registered: 0 unregistered, 0 impossible, 0 to look at.\n"
        )
    }

    @Test("a document that is wrong is refused with all that is wrong with it, and nothing of it is there")
    func refused() throws {
        let text = #"{"categories":[{"id":"A","x":1},{"id":"B","actions":[{"id":"C"}]}]}"#
        let ended = try bellwether.run("categories", "import", "--app", app.slug, "-", input: text)
        #expect(ended.status == 1 && ended.output.isEmpty)
        #expect(
            ended.messages.hasPrefix("bellwether: standard input: 2 errors, nothing was imported:\n  categories[0].x: ")
        )
        #expect(
            ended.messages.hasSuffix(
                "\n  categories[1].actions[0].titles: is required: the button's titles by language\n"))
        #expect(try bellwether.run("categories", "list", "--app", app.slug).output.isEmpty)
        let directory = TemporaryDirectory()
        try Data(repeating: 0x20, count: 50_000_000).write(to: URL(fileURLWithPath: directory("large")))
        for (path, hint) in [
            (directory("large"), "has over 1048576 bytes"), (directory("none"), "No such file"),
            (directory.path, "is a directory"),
        ] {
            let ended = try bellwether.run("categories", "import", "--app", app.slug, path)
            #expect(ended.status == 1 && ended.messages.contains(hint), "\(ended)")
        }
        for words in [
            ["import"], ["import", "--app", app.slug], ["import", "x", "--app", app.slug, "--preset", "hive"],
            ["import", "--app", app.slug, "--preset", "none"], ["list"], ["check"],
            ["check", "--app", app.slug, "--days", "0"],
        ] {
            #expect(try bellwether.start(["categories"] + words).wait().status == 64, "\(words)")
        }
        let nobody = try bellwether.run("categories", "import", "--app", "nobody", "-", input: Self.info)
        #expect(nobody.status == 1 && nobody.messages.contains("no app 'nobody'"))
    }

    @Test("PUT registers with a server key, and tells what is wrong with what is not registered")
    func overHTTP() throws {
        let key = try serverKey()
        let first = try put(Array(Self.info.utf8), key: key)
        #expect(first.status == 200, "\(first)")
        #expect(first.body == #"{"edition":1,"categories":1,"buttons":2,"unchanged":false,"warnings":[]}"# + "\n")
        let packed = try put(try gzip(Self.info), key: key, headers: ["Content-Encoding": "gzip"])
        #expect(packed.body == #"{"edition":1,"categories":1,"buttons":2,"unchanged":true,"warnings":[]}"# + "\n")
        let wrong = try put(Array(#"{"categories":[{"id":"A'B"},{"id":7}]}"#.utf8), key: key)
        #expect(wrong.status == 422 && wrong.problem?.code == "invalid_categories", "\(wrong)")
        let body = try #require(
            JSONSerialization.jsonObject(with: Data(wrong.body.utf8)) as? [String: Any])
        #expect(
            body["errors"] as? [[String: String]] == [
                ["path": "categories[0].id", "detail": "must not contain a quote or backslash"],
                ["path": "categories[1].id", "detail": "must be a string, not a number"],
            ])
        let many = "{\"categories\":[" + (0..<10_000).map { "{\"id\":\"C\($0)\"}" }.joined(separator: ",") + "]}"
        #expect(try put(Array(many.utf8), key: key).problem?.code == "invalid_categories")
        #expect(try put(Array("[]".utf8), key: key).problem?.code == "not_an_object")
        #expect(try put(Array("{".utf8), key: key).problem?.code == "not_json")
        let large = try put([UInt8](repeating: 0x20, count: 2 << 20), key: key)
        #expect(large.status == 413)
        let bomb = try put(
            try gzip(String(repeating: " ", count: 50 << 20)), key: key, headers: ["Content-Encoding": "gzip"])
        #expect(bomb.status == 413 && bomb.problem?.code == "unpacked_too_large")
        let write = try put(Array(Self.info.utf8), key: app.secret)
        #expect(write.status == 403 && write.problem?.code == "wrong_key_kind")
        #expect(try put(Array(Self.info.utf8), key: nil).status == 401)
        #expect(try put(Array(Self.info.utf8), key: key, headers: ["Content-Type": "text/plain"]).status == 415)
        let post = try shared.service.client().send("POST", "/v1/categories")
        #expect(post.status == 405 && post["allow"] == "PUT")
        // What was refused left no trace.
        let editions: Int64 = try shared.database.value(
            "SELECT count(*) FROM registry.edition WHERE app = \(app.id)")
        #expect(editions == 1)
    }

    @Test("check exits 1 on what is tapped and not registered, and says how often and what to do")
    func check() throws {
        try ProjectedShop.open { shop in
            _ = try shop.bellwether.trusted("categories", "import", "--app", "shop", "-", input: Self.info)
            try shop.post(
                Wire.id(),
                Wire.event(type: "action.tapped", more: #""action_id":"VIEW","action_index":0,"action_count":2"#),
                Wire.event(type: "action.tapped", more: #""action_id":"BUY""#),
                Wire.event(type: "action.tapped", more: #""action_id":"CLOSE","action_index":4,"action_count":2"#))
            #expect(try shop.becomesLevel())
            let ended = try shop.bellwether.run("categories", "check", "--app", "shop", "--days", "10000")
            #expect(ended.status == 1)
            #expect(
                ended.output == """
                    unregistered: INFO_CATEGORY / BUY: the category never had this button (1 tap, since 2026-11-20)
                        Add the action to the category and import it again, or correct the identifier where the app registers it.
                    impossible: INFO_CATEGORY / CLOSE: taps say that it is button 5, the registration says 2 (1 tap, since 2026-11-20)
                        Import the buttons in the number and order in which the app registers them with iOS.
                    'shop' has 1 category with 2 buttons registered: 1 unregistered, 1 impossible, 0 to look at.

                    """)
            let json = try shop.bellwether.run(
                "categories", "check", "--app", "shop", "--format", "json", "--days", "10000")
            let object = try #require(
                JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
            #expect(json.status == 1 && object["clean"] as? Bool == false)
            #expect(
                (object["findings"] as? [[String: Any]])?.map { $0["kind"] as? String } == [
                    "unregistered_action", "action_index",
                ])
            // Exposure is what the events tell: one delivery had a button tapped.
            #expect(
                try shop.database.analystRows(
                    "SELECT action_id, exposures, tapped_deliveries, verdict FROM category_buttons ORDER BY 1") == [
                        "(BUY,,1,unregistered)", "(CLOSE,,1,tapped)", "(VIEW,,1,tapped)",
                    ])
            _ = try shop.bellwether.trusted(
                "categories", "import", "--app", "shop", "-",
                input: Self.info.replacing(#""actions""#, with: #""content_extension":true,"actions""#))
            #expect(
                try shop.database.analystRows(
                    "SELECT action_id, exposures, round(tap_rate, 3) FROM category_buttons ORDER BY 1") == [
                        "(BUY,1,1.000)", "(CLOSE,1,1.000)", "(VIEW,1,1.000)",
                    ])
        }
    }

    private func gzip(_ text: String) throws -> [UInt8] {
        let scratch = TemporaryDirectory()
        try text.write(toFile: scratch("body"), atomically: false, encoding: .utf8)
        #expect(try ChildProcess.run(["gzip", scratch("body")]).status == 0)
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: scratch("body.gz"))))
    }
}
