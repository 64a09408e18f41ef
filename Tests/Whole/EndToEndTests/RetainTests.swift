import Foundation
import Postgres
import TestSupport
import Testing

@Suite("Old months are dropped")
struct RetainTests {
    /// The middle of a month that ended over 300 days ago, and of the one before it.
    private let old: String
    private let older: String
    private let fresh: String
    /// As the command names them.
    private var oldMonth: String { String(old.prefix(7)) }
    private var olderMonth: String { String(older.prefix(7)) }

    init() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
        let start = try #require(
            calendar.dateInterval(of: .month, for: Date(timeIntervalSinceNow: -360 * 86_400))?.start)
        old = start.addingTimeInterval(14 * 86_400).ISO8601Format()
        older = start.addingTimeInterval(-14 * 86_400).ISO8601Format()
        fresh = Date(timeIntervalSinceNow: -3_600).ISO8601Format()
    }

    private func event(_ type: String, of id: String, at: String, more: String = "") -> String {
        Wire.event(type: type, at: at, notification: #"{"id":"\#(id)","category":"C"}"#, more: more)
    }

    /// Deliveries of two old months, one whose events lie in an old month and now, and a new one; all received when
    /// they occurred, as far as the log can tell.
    private func fill(_ shop: ProjectedShop, installs: [String]) throws {
        let receipt = #""via":"service_extension""#
        for (install, times) in zip(installs, [[older, older], [old, old], [old, fresh], [fresh, fresh]]) {
            try shop.post(
                install, event("notification.received", of: "n", at: times[0], more: receipt),
                event("action.tapped", of: "n", at: times[1], more: #""action_id":"REPLY""#))
        }
        // Months are made at their first event.
        let made = try eventually {
            let months =
                "SELECT count(*) FROM log.partition WHERE month IN (\(oldMonth + "-01")::date, \(olderMonth + "-01")::date)"
                as Statement
            return try shop.database.value(months, as: Int64.self) == 2
        }
        #expect(made)
        try shop.database.run(
            "BEGIN; SELECT log.open_gate(); UPDATE log.event SET received_at = device_at; COMMIT")
        #expect(try shop.becomesLevel())
    }

    private func deliveries(_ shop: ProjectedShop) throws -> Int64 {
        try shop.database.value("SELECT count(*) FROM analytics.deliveries")
    }

    @Test("months that are old enough go with their events, and every number of every funnel stays")
    func drop() throws {
        try ProjectedShop.open { shop in
            let installs = (0..<4).map { _ in Wire.id() }
            try fill(shop, installs: installs)
            let before = try shop.funnels()
            #expect(before.filter { $0.hasPrefix("(category_funnel") }.count == 3)
            let none = try shop.bellwether.run("retain", "--days", "36500")
            #expect(
                none.status == 0
                    && none.output.hasPrefix(
                        "Nothing to drop: every month has an event that occurred or was received in the last 36500 days"
                    )
                    && none.messages.isEmpty, "\(none)")
            let ended = try shop.bellwether.run("retain", "--days", "300")
            #expect(ended.status == 0 && ended.messages.isEmpty, "\(ended)")
            #expect(
                ended.output == """
                    \(olderMonth): dropped; deliveries sealed: 1.
                    \(oldMonth): dropped; deliveries sealed: 2.

                    """)
            #expect(try shop.funnels() == before)
            #expect(try deliveries(shop) == 1)
            #expect(try shop.database.value("SELECT count(*) FROM analytics.events", as: Int64.self) == 3)
            try shop.expectProved()

            // What comes late for what is gone is refused; what comes of a sealed delivery counts no more.
            for (install, at) in zip(installs, [older, old]) {
                let late = try shop.send(install, [event("notification.opened", of: "n", at: at)])
                #expect(late.results.first?.reason == "too_old" && late.rejected == 1, "\(late)")
            }
            try shop.post(installs[2], event("notification.opened", of: "n", at: fresh))
            try shop.post(installs[3], event("notification.dismissed", of: "another", at: fresh))
            #expect(try shop.becomesLevel())
            #expect(
                try shop.funnels().filter { $0.hasPrefix("(category_actions") }
                    == before.filter { $0.hasPrefix("(category_actions") })
            #expect(
                try shop.database.analystRows("SELECT sum(delivered), sum(opened), sum(dismissed) FROM category_funnel")
                    == [
                        "(5,0,1)"
                    ])
            try shop.expectProved()
            let after = try shop.funnels()
            #expect(try shop.bellwether.run("rebuild").status == 0)
            #expect(try shop.funnels() == after)
            try shop.expectProved()
            let again = try shop.bellwether.run("retain", "--days", "300", "--format", "json")
            #expect(again.status == 0 && again.output == "[]\n", "\(again)")
        }
    }

    @Test("what was received lately is kept however long ago it occurred")
    func receivedLately() throws {
        try ProjectedShop.open { shop in
            try fill(shop, installs: (0..<4).map { _ in Wire.id() })
            try shop.post(Wire.id(), event("notification.opened", of: "n", at: old))
            let ended = try shop.bellwether.run("retain", "--days", "300", "--format", "json")
            #expect(ended.status == 0, "\(ended)")
            #expect(ended.output == #"[{"month":"\#(olderMonth)-01","sealed_deliveries":1,"dropped":true}]"# + "\n")
            #expect(try shop.database.value("SELECT count(*) FROM analytics.events", as: Int64.self) == 7)
            try shop.expectProved()
        }
    }

    @Test("a month that somebody reads is dropped by the next run, and meanwhile nothing of it is counted twice")
    func read() throws {
        try ProjectedShop.open { shop in
            try fill(shop, installs: (0..<4).map { _ in Wire.id() })
            let before = try shop.funnels()
            var reader = try shop.database.connect()
            try reader.execute(script: "BEGIN; SELECT count(*) FROM analytics.events")
            let busy = try shop.bellwether.run("retain", "--days", "300")
            #expect(
                busy.status == 1 && busy.output.contains("\(oldMonth): closed; deliveries sealed: 2"), "\(busy)")
            #expect(busy.output.contains("run this again"), "\(busy)")
            #expect(try shop.funnels() == before)
            try shop.expectProved()
            try reader.execute(script: "COMMIT")
            let ended = try shop.bellwether.run("retain", "--days", "300")
            #expect(ended.status == 0 && ended.output.contains("\(oldMonth): dropped"), "\(ended)")
            #expect(try shop.funnels() == before)
            try shop.expectProved()
        }
    }
}
