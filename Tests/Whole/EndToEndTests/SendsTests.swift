import Accounts
import EventLog
import Foundation
import Postgres
import ProjectFolder
import Telemetry
import TestSupport
import Testing
import Values

@Suite("What was sent, told to a running service and by import")
struct SendsTests {
    private let shared: SharedService

    init() throws { shared = try SharedService.get() }

    private func serverKey(of app: TestApp) throws -> String {
        var connection = try shared.database.connect()
        return try APIKeys.add(to: app.slug, kind: .server, name: nil, on: &connection).secret
    }

    private func tell(_ body: String, key: String) throws -> RawClient.Answer {
        try shared.service.client().send(
            "POST", "/v1/sends", headers: ["Authorization": "Bearer \(key)", "Content-Type": "application/json"],
            body: Array(body.utf8))
    }

    private func campaigns(of app: TestApp) throws -> [String] {
        try shared.database.analystRows(
            """
            SELECT day, campaign, variant, sent, accepted, fcm_delivered, fcm_data_accepted FROM campaign_funnel
            WHERE app = '\(app.slug)' ORDER BY day, campaign, variant
            """)
    }

    @Test("a send is committed when it is answered, once however often it is told, and refused sends say why")
    func tell() throws {
        let app = try shared.makeApp()
        let key = try serverKey(of: app)
        let body = #"""
            {"sends":[
              {"id":"1","campaign":"sale","recipients":10,"sent_at":"2026-11-20T09:00:00Z"},
              {"id":"1","campaign":"sale","recipients":10,"sent_at":"2026-11-20T09:00:00Z"},
              {"recipients":5}, {"id":"2","campaign":"sale","variant":"b","message_ids":["a","b"],"sent_at":1795165200000}]}
            """#
        let first = try tell(body, key: key).results
        #expect((first.accepted, first.duplicate, first.rejected) == (2, 1, 1))
        #expect(first.results.map(\.index) == [1, 2])
        #expect(first.results.map(\.id) == ["1", nil])
        #expect(first.results[1].reason == "missing_field")
        #expect(first.results[1].detail == "sends[2].id: is required, and must be neither null nor empty")
        let again = try tell(body, key: key).results
        #expect((again.accepted, again.duplicate, again.rejected) == (0, 3, 1))
        #expect(try campaigns(of: app) == [#"(2026-11-20,sale,"",10,,,)"#, "(2026-11-20,sale,b,2,,,)"])
    }

    @Test("a write key cannot tell sends, and a server key cannot post events")
    func keys() throws {
        let app = try shared.makeApp()
        #expect(try tell(#"{"sends":[]}"#, key: app.secret).problem?.code == "wrong_key_kind")
        let events = try shared.service.client().post(Wire.envelope(Wire.event()), key: try serverKey(of: app))
        #expect(events.problem?.code == "wrong_key_kind")
    }

    @Test("a file of sends comes in as an envelope or a line each, and once more is nothing")
    func importSends() throws {
        let app = try shared.makeApp()
        let bellwether = try shared.bellwether
        func take(_ text: String) throws -> ChildProcess.Ended {
            try bellwether.run("sends", "import", "--app", app.slug, "-", input: text)
        }
        let time = #""sent_at":"2026-11-20T09:00:00Z""#
        let lines = (0..<2500).map { #"{"id":"\#($0)","campaign":"c","recipients":2,\#(time)}"# }
        let many = try take(lines.joined(separator: "\r\n"))
        #expect(many.status == 0 && many.output == "accepted 2500\nduplicate 0\nrejected 0\n", "\(many)")
        let envelope = "{ \"sends\":\n[\(lines.prefix(1200).joined(separator: ",\n"))\n, {\"id\":\"new\"} ] }\n"
        let mixed = try take(envelope)
        #expect(mixed.status == 0 && mixed.output == "accepted 1\nduplicate 1200\nrejected 0\n", "\(mixed)")
        let bad = try take("{\"id\":\"x\"}\n\nnonsense\n{\"id\":5}\n{\"id\":\"y\"}\n")
        #expect(bad.status == 1 && bad.output == "accepted 2\nduplicate 0\nrejected 2\n", "\(bad)")
        #expect(
            bad.messages == """
                line 3: it is not JSON: a value is expected here (byte 0)
                line 4: send.id: must be a string, not a number

                """)
        #expect(try campaigns(of: app).first == #"(2026-11-20,c,"",5000,,,)"#)
        let none = try take("[1,2]")
        #expect(none.status == 1 && none.messages.contains("standard input has no sends"), "\(none)")
        #expect(try bellwether.run("sends", "import", "--app", app.slug, "/nowhere").status == 1)
        #expect(try bellwether.run("sends", "import", "/dev/null").status == 64)
    }

    @Test(
        "the export of a send to a topic, as BigQuery writes it, counts for the campaign whose send has the id that FCM returned"
    )
    func topic() throws {
        let app = try shared.makeApp()
        let send =
            #"{"sends":[{"id":"shoes","campaign":"autumn","variant":"a","topic":"shoes","recipients":3,"sent_at":"2026-11-20T09:00:00Z","message_ids":["projects/my-shop/messages/6128547710002342143"]}]}"#
        #expect(try tell(send, key: try serverKey(of: app)).results.accepted == 1)
        func row(_ event: String, _ second: String, message: String, instance: String, type: String) -> String {
            #"{"event_timestamp":"2026-11-20 09:00:\#(second) UTC","project_number":"104417712","message_id":"\#(message)","#
                + #""instance_id":"\#(instance)","message_type":"\#(type)","sdk_platform":"\#(instance.isEmpty ? "" : "IOS")","#
                + #""app_name":"\#(instance.isEmpty ? "" : "com.shop")","collapse_key":"","priority":"10","ttl":"2419200","#
                + #""topic":"/topics/shoes","bulk_id":"6128547710002342143","event":"\#(event)","analytics_label":""}"#
        }
        let children = ["1795165201448811%31bd1c96f9fd7ecd", "1795165201448812%31bd1c96f9fd7ecd", "1795165201448813"]
        let lines =
            children.enumerated().map { number, message in
                row(
                    "MESSAGE_ACCEPTED", "01.44\(number)", message: "0:\(message)", instance: "cWq\(number)",
                    type: number == 2 ? "DATA_MESSAGE" : "DISPLAY_NOTIFICATION")
            }
            + [
                row(
                    "MESSAGE_DELIVERED", "03.5", message: "0:\(children[0])", instance: "cWq0",
                    type: "DISPLAY_NOTIFICATION"),
                row("MESSAGE_ACCEPTED", "00.9", message: "6128547710002342143", instance: "", type: "TOPIC"),
            ]
        let file = TemporaryDirectory()
        try lines.joined(separator: "\n").write(toFile: file("export.json"), atomically: false, encoding: .utf8)
        let imported = try shared.bellwether.run("import", "fcm-export", "--app", app.slug, file("export.json"))
        #expect(imported.status == 0, "\(imported)")
        #expect(try campaigns(of: app) == ["(2026-11-20,autumn,a,3,2,1,1)"])
    }

    @Test("FCM's export comes in line by line: good lines stay whatever is wrong with others, and once more is nothing")
    func importExport() throws {
        let app = try shared.makeApp()
        let bellwether = try shared.bellwether
        func row(_ number: Int, event: String, app: String = "com.shop", type: String = "DISPLAY_NOTIFICATION")
            -> String
        {
            #"{"event_timestamp":"2026-11-20 09:00:0\#(number % 10).123 UTC","project_number":"1","message_id":"17\#(number)","#
                + #""instance_id":"fid-\#(number % 7)","message_type":"\#(type)","app_name":"\#(app)","event":"\#(event)","#
                + #""analytics_label":"sale"}"#
        }
        let lines =
            (0..<12_000).map { row($0, event: "MESSAGE_ACCEPTED") }
            + (0..<6000).map { row($0, event: "MESSAGE_DELIVERED") }
            + (0..<5).map { row(20_000 + $0, event: "MESSAGE_ACCEPTED", type: "DATA_MESSAGE") }
            + ["{}", row(1, event: "MESSAGE_ACCEPTED", app: "com.other"), "", "half of {"]
        let file = TemporaryDirectory()
        try lines.joined(separator: "\n").write(toFile: file("export.json"), atomically: false, encoding: .utf8)
        let words = ["import", "fcm-export", "--app", app.slug, "--app-name", "com.shop", file("export.json")]
        let first = try bellwether.start(words).wait()
        #expect(first.status == 1)
        #expect(first.output == "stored 18005\nknown already 0\nunreadable 2\nof other apps 1\n")
        #expect(
            first.messages
                == "line 18006: it has no event\nline 18009: it is not JSON: a value is expected here (byte 0)\n")
        let again = try bellwether.start(words + ["--format", "json"]).wait()
        #expect(
            again.output
                == "{\"stored\":0,\"known\":18005,\"unreadable\":2,\"other_apps\":1,\"erased\":0,\"too_old\":0}\n")
        #expect(try campaigns(of: app) == [#"(2026-11-20,sale,"",,12000,6000,5)"#])
    }

    @Test(
        "one JSON document in the place of an export is told so in one line, and nothing of it is taken in",
        arguments: [
            #"[{"event_timestamp":"2026-11-20 09:00:00 UTC","message_id":"1","instance_id":"a","event":"MESSAGE_ACCEPTED"}]"#,
            """
            {
              "event_timestamp": "2026-11-20 09:00:00 UTC",
              "message_id": "1"
            }
            """,
            "\n  [\n{},\n{}\n]\n",
        ])
    func notLines(document: String) throws {
        let app = try shared.makeApp()
        let ended = try shared.bellwether.start(["import", "fcm-export", "--app", app.slug, "-"], input: document)
            .wait()
        #expect(ended.status == 1 && ended.output == "")
        #expect(ended.messages.contains("is one JSON document") && ended.messages.contains("jq"))
        #expect(ended.messages.split(separator: "\n").count == 1, "\(ended.messages)")
    }

    @Test("the guide's first minute shows what it says")
    func guide() throws {
        let app = try shared.makeApp()
        let bellwether = try shared.bellwether
        let root = ProjectFolder.path
        #expect(
            try bellwether.trusted("sends", "import", "--app", app.slug, root + "/Examples/sends/sends.json")
                == "accepted 2\nduplicate 0\nrejected 0\n")
        let export = try bellwether.trusted(
            "import", "fcm-export", "--app", app.slug, root + "/Examples/sends/fcm-export.jsonl")
        #expect(export == "stored 5\nknown already 0\nunreadable 0\n")
        #expect(
            try campaigns(of: app) == [
                "(2026-11-20,black-friday,a,12000,,,)", #"(2026-11-20,lookbook,"",2,2,1,)"#,
                #"(2026-11-20,refresh,"",,,,1)"#,
            ])
        #expect(
            try shared.database.analystRows(
                "SELECT declared_index, page_index, page_title, declared_ms, fault FROM story_pages WHERE app = '\(app.slug)' ORDER BY 1"
            )
                == ["(0,0,Coats,4000,)", "(1,,Hats,5000,no_image)", "(2,1,Boots,5000,button_without_link)"])
        let guide = try String(contentsOfFile: root + "/Docs/Sends.md", encoding: .utf8)
        #expect(guide.contains(export))
        for line in [
            "black-friday | a       | 12000 |        · |             · |         0",
            "2 |          1 | Boots      |        5000 | button_without_link",
        ] {
            #expect(guide.contains(line))
        }
    }

    @Test(
        "an erased install takes along the rows of the Firebase installations that it named, and they do not come back")
    func erase() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp("shop")
        let bellwether = try Bellwether(database)
        let (install, other) = (UUID.random(), UUID.random())
        var events = [Event.sample(install: install), Event.sample(install: other), Event.sample(install: install)]
        for (index, fid) in ["myself", "theirs", "myself-of-old"].enumerated() {
            events[index].source = Source(installID: events[index].source.installID, fid: fid)
        }
        _ = try database.appender().append([app.submission(events)])
        _ = try bellwether.trusted("project", "--once")
        let lines = ["myself", "theirs", "myself-of-old", "nobody's", ""].enumerated().flatMap { number, instance in
            ["MESSAGE_ACCEPTED", "MESSAGE_DELIVERED"].map {
                #"{"event_timestamp":"2026-11-20 09:00:00 UTC","message_id":"\#(number)","instance_id":"\#(instance)","event":"\#($0)"}"#
            }
        }.joined(separator: "\n")
        func take() throws -> String {
            try bellwether.trusted("import", "fcm-export", "--app", "shop", "-", input: lines)
        }
        #expect(try take() == "stored 10\nknown already 0\nunreadable 0\n")
        let receipt = try bellwether.trusted("erase", "--app", "shop", "--install", "\(install)")
        #expect(receipt.contains("FCM export rows  4"), "\(receipt)")
        func left() throws -> [String] {
            try database.analystRows("SELECT DISTINCT instance_id FROM fcm_export ORDER BY 1")
        }
        #expect(try left() == [#"("")"#, "(nobody's)", "(theirs)"])
        #expect(
            try database.analystRows("SELECT accepted, fcm_delivered FROM campaign_funnel WHERE accepted > 0") == [
                "(3,3)"
            ])
        #expect(try take() == "stored 0\nknown already 6\nunreadable 0\nof erased instances 4\n")
        #expect(try left().count == 3)
        // Nowhere does its name remain.
        let dump = try ChildProcess.run(["pg_dump", "--data-only", try database.url()])
        #expect(dump.status == 0 && !dump.output.contains("myself") && dump.output.contains("theirs"))
    }
}
