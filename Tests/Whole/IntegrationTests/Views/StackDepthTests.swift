import Foundation
import FunnelOracle
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@Suite("The funnel by depth of the pile")
struct StackDepthTests {
    @Test(
        "counts each delivery where a plain count of its neighbours puts it, days of 23, 24 and 25 hours alike",
        arguments: [
            ("Asia/Bangkok", "2026-11-18"), ("Europe/Berlin", "2026-03-27"), ("Europe/Berlin", "2026-10-23"),
            ("Atlantic/Azores", "2026-10-23"), ("Pacific/Apia", "2011-12-28"),
        ] as [(String, String)])
    func random(zone: String, start: String) throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var history = try ReportedHistory("shop", timeZone: zone, in: database)
        var dice = SeededNumbers(seed: 6)
        let first = try #require(Timestamp(rfc3339: start + "T00:00:00Z"))
        var pile: [Pushed] = []
        for number in 0..<400 {
            let pushed = Pushed(number, from: first, &dice)
            pile.append(pushed)
            for (interaction, at) in pushed.events {
                let delivery = ReportedHistory.Delivery(
                    install: pushed.install, notification: pushed.notification)
                history.add(interaction, at, of: delivery, receivedAt: first.later(hours: 24 * 30))
            }
        }
        _ = try history.store()
        let found = try database.analystRows(
            """
            SELECT day, scope, depth_bucket, delivered, received, opened, action_tapped, responded,
                received_responded, dismissed, unanswered
            FROM stack_depth_funnel WHERE app = 'shop' ORDER BY 1, 2, 3
            """)
        #expect(found == Pushed.rows(of: pile, zone: try #require(TimeZone(identifier: zone))))
        for bucket in ["thread,1,", "thread,2-4,", "thread,5+,", "app,5+,"] {
            #expect(found.contains { $0.contains(bucket) }, "chance never made \(bucket)")
        }
        // Both scopes count what the categories count; a single day says what it says among all.
        let differing: Int64 = try database.value(
            """
            SELECT count(*) FROM (
                SELECT day, sum(delivered) AS delivered, sum(responded) AS responded, sum(suppressed) AS suppressed
                FROM analytics.category_funnel GROUP BY day
            ) AS c FULL JOIN (
                SELECT day, scope, sum(delivered) AS delivered, sum(responded) AS responded,
                    sum(suppressed) AS suppressed
                FROM analytics.stack_depth_funnel GROUP BY day, scope
            ) AS s USING (day, delivered, responded, suppressed)
            WHERE c IS NULL OR s IS NULL
            """)
        #expect(differing == 0)
        for day in Set(found.map { $0.dropFirst().prefix(10) }) {
            let alone = try database.analystRows(
                """
                SELECT day, scope, depth_bucket, delivered, received, opened, action_tapped, responded,
                    received_responded, dismissed, unanswered
                FROM stack_depth_funnel WHERE app = 'shop' AND day = '\(day)' ORDER BY 1, 2, 3
                """)
            #expect(alone == found.filter { $0.dropFirst().hasPrefix(day) })
        }
    }

    @Test("a pile ends 24 hours after each arrival and with each answer, to the microsecond")
    func edges() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var history = try ReportedHistory(in: database)
        let noon = try #require(Timestamp(rfc3339: "2026-11-20T12:00:00Z"))
        /// Install, microseconds from noon, and from there to the answer.
        let arrivals: [(UInt64, Int64, Int64?)] = [
            // The first is there for 24 hours, and not for a microsecond more.
            (1, 0, nil), (1, 86_400_000_000, nil), (2, 0, nil), (2, 86_400_000_001, nil),
            // It was answered when the second came; or before.
            (3, 0, 1_000), (3, 1_000, nil), (4, 0, 1_000), (4, 1_001, nil),
            // Together.
            (5, 0, nil), (5, 0, nil), (5, 0, 0),
        ]
        for (install, offset, answer) in arrivals {
            let delivery = ReportedHistory.Delivery(install: install, notification: history.notification())
            history.add(.received(Receipt(via: .serviceExtension)), noon + offset, of: delivery)
            if let answer { history.add(.opened(launch: .cold), noon + (offset + answer), of: delivery) }
        }
        _ = try history.store()
        #expect(
            try database.analystRows(
                """
                SELECT day, depth_bucket, delivered FROM stack_depth_funnel WHERE scope = 'app' ORDER BY 1, 2
                """) == [
                    // 1, 2, 3 and 4 with their firsts, 4 with its second; 3 with its second, and all of 5.
                    "(2026-11-20,1,5)", "(2026-11-20,2-4,4)", "(2026-11-21,1,1)", "(2026-11-21,2-4,1)",
                ])
    }

    @Test("has the columns of the other funnels of deliveries, by scope and depth") func columns() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let like = try database.columns(of: "category_funnel").filter {
            $0 != "category:text" && !$0.hasPrefix("dismiss_rate")
        }
        let found = try database.columns(of: "stack_depth_funnel")
        let own = ["scope:text", "depth_bucket:text"]
        #expect(found == like.prefix(2) + own + like.dropFirst(2) + ["as_of:timestamp with time zone"])
    }

    @Test("is found by day, and opens no line that is not live")
    func plans() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var history = try ReportedHistory(in: database)
        let noon = try #require(Timestamp(rfc3339: "2026-11-20T12:00:00Z"))
        for day in -3...0 as ClosedRange<Int64> {
            let delivery = ReportedHistory.Delivery(install: 1, notification: history.notification())
            history.add(.received(Receipt(via: .serviceExtension)), noon.later(hours: 24 * day), of: delivery)
        }
        _ = try history.store()
        try database.makeSecondLine()
        let plan = try database.plan(
            of: "SELECT * FROM analytics.stack_depth_funnel WHERE app = 'shop' AND day = '2026-11-20'")
        let words = plan.joined(separator: "\n")
        let scans = plan.filter { $0.contains("Scan") && $0.contains(" on delivery_") }
        #expect(scans.count >= 6, "\(words)")
        #expect(scans.allSatisfy { $0.contains("Bitmap ") }, "\(words)")
        #expect(scans.filter { $0.contains("on delivery_2 ") }.allSatisfy { $0.contains("never executed") })
        // Of four days, this one and the one before it.
        #expect(
            scans.contains { $0.contains("on delivery_1 ") && $0.contains(/\(actual rows=2(\.00)? loops=1\)/) },
            "\(words)")
        #expect(plan.contains { $0.contains("Index Cond: ((app = app.id) AND (day = '2026-11-20'::date)") })
    }
}

/// A push to one of three installs, and what became of it.
private struct Pushed {
    let number: Int
    let install: UInt64
    let thread: String?
    let at: Timestamp
    let isSilent: Bool
    /// Without it the first event is the answer.
    let isReceived: Bool
    let answer: (interaction: Interaction, at: Timestamp)?

    /// Times are few, so that some of them meet.
    init(_ number: Int, from first: Timestamp, _ dice: inout SeededNumbers) {
        self.number = number
        install = UInt64.random(in: 1...3, using: &dice)
        thread = ["a", "b", nil].randomElement(using: &dice)!
        at = first.later(minutes: 30 * Int64.random(in: 0..<240, using: &dice))
        isSilent = Int.random(in: 0..<12, using: &dice) == 0
        let interactions: [Interaction] = [
            .opened(launch: nil), .dismissed, .actionTapped(ActionTap(actionID: "YES")),
            .storyActionTapped(StoryActionTap(pageIndex: 0)),
        ]
        let isAnswered = !isSilent && Int.random(in: 0..<10, using: &dice) < 7
        isReceived = !isAnswered || Bool.random(using: &dice)
        let answeredAt =
            isReceived ? at.later(minutes: 30 * Int64.random(in: 0..<60, using: &dice)) : at
        answer = isAnswered ? (interactions.randomElement(using: &dice)!, answeredAt) : nil
    }

    /// All of its events name the same one.
    var notification: Telemetry.Notification { .init(id: "push-\(number)", thread: thread) }

    var events: [(Interaction, Timestamp)] {
        let receipt = Receipt(via: isSilent ? .background : .serviceExtension)
        return (isReceived ? [(.received(receipt), at)] : []) + (answer.map { [($0.interaction, $0.at)] } ?? [])
    }

    /// The rows of the view, counted one by one.
    static func rows(of all: [Pushed], zone: TimeZone) -> [String] {
        let shown = all.filter { !$0.isSilent }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        var rows: [String: [Int]] = [:]
        for pushed in shown {
            let date = Date(timeIntervalSince1970: Double(pushed.at.microseconds) / 1_000_000)
            let parts = calendar.dateComponents([.year, .month, .day], from: date)
            let day = String(format: "%04d-%02d-%02d", parts.year!, parts.month!, parts.day!)
            let (before, after) = (pushed.at.later(hours: -24), pushed.at)
            let pile = shown.filter { other in
                other.install == pushed.install && (before...after).contains(other.at)
                    && other.answer.map { $0.at >= pushed.at } ?? true
            }
            for (scope, depth) in [("app", pile.count), ("thread", pile.count { $0.thread == pushed.thread })] {
                let bucket = depth == 1 ? "1" : depth < 5 ? "2-4" : "5+"
                let isResponse =
                    pushed.answer.map { if case .dismissed = $0.interaction { false } else { true } } ?? false
                let isOpened = pushed.answer.map { if case .opened = $0.interaction { true } else { false } } ?? false
                let isTapped =
                    pushed.answer.map { if case .actionTapped = $0.interaction { true } else { false } } ?? false
                let flags = [
                    true, pushed.isReceived, isOpened, isTapped, isResponse, isResponse && pushed.isReceived,
                    pushed.answer != nil && !isResponse, pushed.answer == nil,
                ]
                let row = rows["\(day),\(scope),\(bucket)"] ?? flags.map { _ in 0 }
                rows["\(day),\(scope),\(bucket)"] = zip(row, flags).map { $0 + ($1 ? 1 : 0) }
            }
        }
        return rows.sorted { $0.key < $1.key }.map { "(\($0.key),\($0.value.map(String.init).joined(separator: ",")))" }
    }
}
