import BellwetherClient
import Foundation
import ServiceRuntime
import TestSupport
import Testing

@Suite("What the client library's doors record, the service takes and the analyst reads")
struct ClientTests {
    private typealias Client = BellwetherClient.Bellwether
    private let shared: SharedService
    private let app: TestApp
    private let directory = TemporaryDirectory()

    init() throws {
        shared = try SharedService.get()
        app = try shared.makeApp()
    }

    private func client(_ change: (inout Client.Configuration) -> Void = { _ in }) throws -> Client {
        let server = try #require(URL(string: "http://127.0.0.1:\(shared.service.port)"))
        var configuration = Client.Configuration(
            server: server, writeKey: app.secret,
            directory: URL(fileURLWithPath: directory("client"), isDirectory: true))
        configuration.appVersion = "4.2.0"
        configuration.deliversByItself = false
        change(&configuration)
        return Client(configuration)
    }

    private func push(
        _ client: Client, _ json: String, request: Client.Request = Client.Request()
    ) throws -> Client.Push {
        client.push(
            try #require(JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]), request: request)
    }

    private func rows(_ columns: String, _ view: String) throws -> [String] {
        try shared.database.analystRows("SELECT \(columns) FROM \(view) WHERE app = '\(app.slug)' ORDER BY \(view).*")
    }

    /// The app has these rows in a view before long, in whatever order: two events can be of one millisecond.
    private func expect(
        _ expected: [String], _ columns: String, in view: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var found: [String] = []
        let expected = expected.sorted()
        _ = try eventually {
            found = try rows(columns, view).sorted()
            return found == expected
        }
        #expect(found == expected, sourceLocation: sourceLocation)
    }

    /// Everything that waits is taken, and nothing refused.
    private func send(_ client: Client, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        #expect(await client.flush(within: 120) == .delivered, sourceLocation: sourceLocation)
        #expect(try rows("reason, detail", "rejected_events") == [], sourceLocation: sourceLocation)
    }

    @Test("a campaign of Firebase's console, from its receipt to the tap of a button")
    func campaign() async throws {
        let client = try client()
        client.authorization = .authorized
        client.register([
            Client.Category(
                id: "ACCEPT_DECISION_CATEGORY",
                buttons: [
                    Client.Button(id: "ACCEPT", opensApp: true),
                    Client.Button(id: "DECLINE", isDestructive: true, requiresAuthentication: true),
                ])
        ])
        let push = try push(
            client,
            #"""
            { "aps": { "alert": { "title": "Raid", "summary-arg-count": 3 }, "category": "ACCEPT_DECISION_CATEGORY",
                "thread-id": "raid" }, "gcm.message_id": "0:1522880049414338%944841cd944841cd",
              "google.c.a.c_id": "575315420755741863", "google.c.a.c_l": "Raid on Sunday", "google.c.a.e": "1",
              "google.c.a.ts": "1522880044", "google.c.a.m_l": "raids", "from": "/topics/news",
              "fcm_options": { "image": "https://example.com/raid.jpg" } }
            """#, request: Client.Request(identifier: "req-1", deliveredAt: Date()))
        let media = Client.Media(
            .attached, kind: .image, format: "jpg", bytes: 120_344, milliseconds: 420, network: .wifi)
        client.received(push, .serviceExtension(media: media))
        client.sweep([push])
        client.contentExtension(showed: push)
        client.responded(to: push, action: "DECLINE", launch: .warm)
        client.responded(to: push, action: "DECLINE", launch: .warm)
        try await send(client)
        let told = try rows(
            """
            seq, type, notification_key, category, campaign, thread, platform, app_version, "authorization",
            extra -> 'notification' ->> 'campaign_name'
            """, "events")
        let notification = "1522880049414338,ACCEPT_DECISION_CATEGORY,575315420755741863,raid"
        let types = ["notification.received", "notification.received", "notification.expanded", "action.tapped"]
        #expect(
            told.sorted()
                == types.enumerated().map { index, type in
                    "(\(index + 1),\(type),\(notification),linux,4.2.0,authorized,\"Raid on Sunday\")"
                })
        try expect(
            ["(ACCEPT_DECISION_CATEGORY,1,1,0,1,0,1,1,1)"],
            "category, delivered, received, inferred, expanded, opened, action_tapped, received_responded, media_attached",
            in: "category_funnel")
        try expect(["(DECLINE,1,1,0)"], "action_id, tapped_deliveries, taps, foreground_taps", in: "category_actions")
        try expect(["(raid,3)"], "thread, items", in: "thread_funnel")
    }

    @Test("a story of Pushwoosh, played to its end, left half way, and not played at all")
    func stories() async throws {
        let client = try client()
        func story(_ id: String, pages: String) throws -> Client.Story {
            client.story(
                of: try push(
                    client,
                    #"{"aps":{"alert":"x","category":"PW_STORIES"},"pw_msg":"1","p":"_1C_\#(id)_a","pw_stories":\#(pages)}"#
                ),
                loops: false)
        }
        let page = #"{"image":"https://example.com/1.jpg","link":"shop://sale/1?user=7","duration":3}"#
        let pages = #"{"pages":[{"image":""},\#(page),\#(page)]}"#
        let whole = try story("1", pages: pages)
        whole.started(pageCount: 2)
        whole.pageShown(at: 0)
        whole.pageShown(at: 1)
        whole.actionTapped(at: 1)
        whole.finished()
        let half = try story("2", pages: pages)
        half.started(pageCount: 2)
        half.pageShown(at: 0)
        try story("3", pages: #"{"pages":[]}"#).fallbackShown()
        try await send(client)
        try expect(
            ["(PW_STORIES,100,3,2,1,1,0,1,1)"],
            """
            category, campaign, stories, started, completed, exit_clicked, exit_finished, exit_fallback, exit_abandoned
            """, in: "story_funnel")
        try expect(
            ["(0,2,2,2,2,0,1)", "(1,2,1,1,1,1,0)"],
            "page_index, planned, reached, shown, views, clicked, exited", in: "story_page_funnel")
        #expect(try rows("extra", "events").allSatisfy { $0 == "()" })
    }

    @Test("silent, local and dismissed notifications, and what a switched-off library leaves out")
    func others() async throws {
        let client = try client()
        let silent = try push(
            client, #"{"aps":{"content-available":1},"gcm.message_id":"0:1%1","google.c.a.c_id":"17"}"#)
        client.received(silent, .background(.newData))
        let local = try push(
            client, "{}",
            request: Client.Request(
                identifier: "daily", category: "CHORES", origin: .local, deliveredAt: Date(), showsText: true))
        client.received(local, .foreground(presentation: []))
        client.responded(to: local, action: Client.ActionIdentifier.dismiss)
        client.isRecording = false
        client.responded(to: local, action: Client.ActionIdentifier.open)
        try await send(client)
        try expect(["(17,1,1)"], "campaign, woken, new_data", in: "silent_funnel")
        try expect(["(CHORES,1,0,1)"], "category, delivered, opened, dismissed", in: "category_funnel")
        try expect(
            ["(foreground,local)", "(background,remote)"], "via, origin", in: "receipts")
    }

    @Test("app and extension that share a directory are one install; a sweep at each start is one event")
    func oneInstall() async throws {
        let json = #"{"aps":{"alert":"x"},"gcm.message_id":"0:1%1"}"#
        let request = Client.Request(deliveredAt: Date(timeIntervalSince1970: 1_795_000_000.5))
        for _ in 0..<2 {
            let (app, extensions) = (try client(), try client())
            extensions.received(try push(extensions, json), .serviceExtension())
            app.sweep([try push(app, json, request: request)])
            try await send(app)
        }
        // A phone that forgot what it swept tells the same event again.
        try FileManager.default.removeItem(atPath: directory("client") + "/swept")
        let app = try client()
        app.sweep([try push(app, json, request: request)])
        try await send(app)
        let mine = "WHERE app = '\(self.app.slug)'"
        let counts = "count(DISTINCT install_id), count(*), count(DISTINCT seq)"
        #expect(try shared.database.analystRows("SELECT \(counts) FROM events \(mine)") == ["(1,3,3)"])
        let sums = "SELECT sum(accepted), sum(duplicate), sum(rejected) FROM data_quality \(mine)"
        #expect(try shared.database.analystRows(sums) == ["(3,1,0)"])
    }

    @Test("the example program posts a whole story")
    func example() throws {
        let binary = (TestSupport.Bellwether.path as NSString).deletingLastPathComponent + "/post-a-story"
        let ended = try ChildProcess.run(
            [binary, "http://127.0.0.1:\(shared.service.port)", app.secret], environment: ["TMPDIR": directory.path])
        #expect(ended.status == 0 && ended.messages == "", "\(ended)")
        try expect(
            ["(PW_STORIES,575315420755741863,1,1,1)"], "category, campaign, stories, started, exit_clicked",
            in: "story_funnel")
        try expect(["(0,1)", "(1,1)", "(2,1)"], "page_index, shown", in: "story_page_funnel")
        let causes = try rows("cause", "story_events").filter { $0 != "()" }
        #expect(causes == ["(initial)", "(auto)", "(auto)"])
        let wrong = try ChildProcess.run(
            [binary, "http://127.0.0.1:\(shared.service.port)", "wrong"], environment: ["TMPDIR": directory.path])
        #expect(wrong.status == 1 && wrong.messages.contains("key"), "\(wrong)")
    }
}
