import Foundation
import ServiceRuntime
import TestSupport
import Testing

@Suite("Funnels of events that came over HTTP")
struct FunnelTests {
    private let shared: SharedService
    private let app: TestApp

    init() throws {
        shared = try SharedService.get()
        app = try shared.makeApp()
    }

    private func post(_ events: String..., install: String = Wire.id()) throws {
        let results = try shared.post(Wire.envelope(install: install, events), app).results
        #expect(results.accepted == events.count, "\(results)")
    }

    /// The test's app has these rows in a view before long.
    private func expect(
        _ expected: [String], _ columns: String, in view: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let query = "SELECT \(columns) FROM \(view) WHERE app = '\(app.slug)' ORDER BY \(view).*"
        var found: [String] = []
        _ = try eventually {
            found = try shared.database.analystRows(query)
            return found == expected
        }
        #expect(found == expected, sourceLocation: sourceLocation)
    }

    /// An event of a notification, so many seconds after 09:30.
    private func event(
        _ type: String, of notification: String, at second: Int, id: String = Wire.id(), day: String = "2026-11-20",
        more: String = ""
    ) -> String {
        Wire.event(
            id: id, type: type, at: "\(day)T09:\(String(format: "%02d:%02d", 30 + second / 60, second % 60)).000Z",
            notification: notification, more: more)
    }

    private let news = #"{"id":"n-1","category":"NEWS","thread":"promo"}"#
    private let viaExtension = #""via":"service_extension""#

    @Test("what became of notifications stands under its category, thread, version, button and medium")
    func notifications() throws {
        let (received, tapped) = ("notification.received", "action.tapped")
        try post(
            event("notification.opened", of: news, at: 60, more: #""launch":"cold""#),
            event(
                received, of: news, at: 0,
                more: viaExtension + #","media":{"kind":"image","outcome":"attached","network":"wifi"}"#))
        // Two taps of one button, the earlier ten seconds after the receipt, in two envelopes.
        let install = Wire.id()
        let button = #""action_id":"REPLY","activation":"foreground""#
        try post(event(tapped, of: news, at: 40, more: button), install: install)
        try post(
            event(received, of: news, at: 20, more: viaExtension + #","summary_argument_count":4"#),
            event(tapped, of: news, at: 30, more: button), install: install)
        // Of one we know by its button only; one was shown to nobody, one dismissed, one expanded and left.
        try post(event(tapped, of: news, at: 5, more: #""action_id":"REPLY""#))
        try post(event(received, of: news, at: 1, more: #""via":"foreground","presentation":[]"#))
        try post(event(received, of: news, at: 1, more: viaExtension), event("notification.dismissed", of: news, at: 3))
        try post(event("notification.expanded", of: news, at: 2))

        let counts = """
            delivered, received, inferred, expanded, opened, action_tapped, story_action_tapped, responded,
            received_responded, dismissed, unanswered, suppressed, media_attached
            """
        let sums = "6,4,2,1,1,2,0,3,2,1,2,1,1"
        try expect(
            ["(2026-11-20,NEWS,\(sums),0.500,0.667)"],
            "day, category, \(counts), round(response_rate, 3), round(receipt_coverage, 3)", in: "category_funnel")
        try expect(["(2026-11-20,promo,\(sums),9)"], "day, thread, \(counts), items", in: "thread_funnel")
        try expect(["(2026-11-20,ios,\"\",\(sums))"], "day, platform, app_version, \(counts)", in: "version_funnel")
        try expect(
            ["(2026-11-20,NEWS,REPLY,2,3,2,1,t)"],
            """
            day, category, action_id, tapped_deliveries, taps, foreground_taps, timed,
            median_seconds BETWEEN 9 AND 11
            """, in: "category_actions")
        try expect(
            ["(2026-11-20,NEWS,image,wifi,attached,1,1)"],
            "day, category, kind, network, outcome, deliveries, responded", in: "media_funnel")
        try expect([], "day", in: "story_funnel")
        try expect([], "day", in: "silent_funnel")
    }

    @Test("stories end in one of four ways, and each page says who was shown it, tapped it, and left there")
    func stories() throws {
        let story = #"{"id":"s-1","category":"PW_STORIES","campaign":"spring"}"#
        let started = #""page_count":3"#
        try post(
            event("story.started", of: story, at: 0, more: started),
            event("story.page_shown", of: story, at: 1, more: #""page_index":0,"cause":"initial""#),
            event("story.page_shown", of: story, at: 5, more: #""page_index":1,"cause":"auto""#),
            event("story.action_tapped", of: story, at: 7, more: #""page_index":1"#))
        try post(
            event("story.page_shown", of: story, at: 1, more: #""page_index":0"#),
            event("story.started", of: story, at: 0, more: started))
        try post(event("story.fallback_shown", of: story, at: 0, more: #""reason":"missing""#))
        try post(
            event("story.started", of: story, at: 0, more: started), event("story.finished", of: story, at: 9))
        try expect(
            ["(2026-11-20,PW_STORIES,spring,4,3,1,1,1,1,1,0.333,0.250)"],
            """
            day, category, campaign, stories, started, completed, exit_clicked, exit_finished, exit_fallback,
            exit_abandoned, round(completion_rate, 3), round(fallback_rate, 3)
            """, in: "story_funnel")
        try expect(
            [
                "(0,3,2,2,2,0,1,4000,1,0.000,4.000)", "(1,3,1,1,1,1,0,2000,1,1.000,2.000)", "(2,3,0,0,0,0,0,0,0,,)",
            ],
            """
            page_index, planned, reached, shown, views, clicked, exited, dwell_ms, dwells, round(click_rate, 3),
            round(mean_dwell_seconds, 3)
            """, in: "story_page_funnel")
        try expect(["(4,0,4,4,1)"], "delivered, received, inferred, expanded, responded", in: "category_funnel")
    }

    @Test("silent pushes stand in their own funnel and in no other, until something of them is seen")
    func silent() throws {
        let silent = #"{"id":"q-1","campaign":"sync","alert":false}"#
        func woken(_ result: String) -> String { #""via":"background","fetch_result":"\#(result)""# }
        let install = Wire.id()
        try post(event("notification.received", of: silent, at: 0, more: woken("new_data")))
        try post(event("notification.received", of: silent, at: 0, more: woken("no_data")), install: install)
        try post(event("notification.received", of: silent, at: 0, more: #""via":"background""#))
        let columns = "day, campaign, woken, new_data, no_data, failed, no_result"
        try expect(["(2026-11-20,sync,3,1,1,0,1)"], columns, in: "silent_funnel")
        try expect([], "day", in: "category_funnel")
        try post(event("notification.opened", of: silent, at: 8), install: install)
        try expect(["(2026-11-20,sync,2,1,0,0,1)"], columns, in: "silent_funnel")
        try expect(["(2026-11-20,\"\",1,1,1)"], "day, category, delivered, received, opened", in: "category_funnel")
    }

    @Test("an earlier event moves its delivery as a whole to the day of it, and a repeat changes nothing")
    func late() throws {
        let install = Wire.id()
        let open = event("notification.opened", of: news, at: 0)
        try post(open, install: install)
        try expect(["(2026-11-20,1,0,1)"], "day, delivered, received, opened", in: "category_funnel")
        try post(
            event("notification.received", of: news, at: 0, day: "2026-11-18", more: viaExtension), install: install)
        let moved = ["(2026-11-18,1,1,1)"]
        try expect(moved, "day, delivered, received, opened", in: "category_funnel")
        let repeated = try shared.post(Wire.envelope(install: install, open), app).results
        #expect(repeated.duplicate == 1)
        try post(event("notification.opened", of: news, at: 0, day: "2026-11-19"))
        try expect(moved + ["(2026-11-19,1,0,1)"], "day, delivered, received, opened", in: "category_funnel")
    }

    @Test("while events pour in, every look at two funnels and the deliveries finds that they agree")
    func agreement() throws {
        let isDone = Lock(false)
        let accepted = Lock(0)
        let clients = (0..<2).map { _ in
            Worker(name: "client") {
                while !isDone.withLock({ $0 }) {
                    let number = Int.random(in: 0..<35)
                    let notification = #"{"id":"n-\#(number)","category":"C\#(number % 5)","thread":"t"}"#
                    let kind = ["notification.opened", "notification.dismissed", "notification.expanded"][number % 3]
                    let events = (0..<20).map { second in
                        event(kind, of: notification, at: second, more: #""source":{"install_id":"\#(Wire.id())"}"#)
                    }
                    let results = try? shared.post(Wire.envelope(events), app).results
                    accepted.withLock { $0 += results?.accepted ?? 0 }
                }
            }
        }
        let look = """
            SELECT count(*), (SELECT coalesce(sum(delivered), 0) FROM category_funnel WHERE app = '\(app.slug)'),
                (SELECT coalesce(sum(responded + unanswered + dismissed), 0) FROM thread_funnel
                    WHERE app = '\(app.slug)')
            FROM deliveries WHERE app = '\(app.slug)'
            """
        var seen: Set<String> = []
        let isMoving = try eventually {
            let row = try shared.database.analystRows(look)[0]
            #expect(Set(row.dropFirst().dropLast().split(separator: ",")).count == 1, "\(row)")
            seen.insert(row)
            return seen.count >= 8
        }
        #expect(isMoving, "\(seen)")
        isDone.withLock { $0 = true }
        for client in clients { client.join() }
        #expect(try shared.database.becomesLevel())
        let all = accepted.withLock { $0 }
        #expect(try shared.database.analystRows(look) == ["(\(all),\(all),\(all))"])
    }
}
