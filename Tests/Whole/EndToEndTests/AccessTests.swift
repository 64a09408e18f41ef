import Foundation
import Postgres
import ServiceRuntime
import TestSupport
import Testing

@Suite("What is held about an install is listed")
struct AccessTests {
    private let install = Wire.id()
    private let other = Wire.id()
    private let files = TemporaryDirectory()

    /// Events, rejected ones of its own and of a sender that names it, drops, rows of FCM's export, and what retention
    /// has sealed.
    private func fill(_ shop: ProjectedShop) throws {
        for install in [install, other] {
            try shop.postDeliveries(of: install)
            try shop.postLosses(of: install)
            let fid = #""source":{"fid":"fid-\#(install)"}"#
            try shop.post(
                install, Wire.event(more: fid + #","carrier":{"a":null}"#),
                Wire.event(type: "goal.reached", more: #""goal":"purchase","value":9.99"#))
        }
        let mention = #"{"type":"unheard","note":"\#(install.uppercased())"}"#
        #expect(try shop.send(other, [mention]).rejected == 1)
        let lines = [install, other].map {
            #"{"event_timestamp":"2026-11-20 09:00:00 UTC","message_id":"0:17%ab","instance_id":"fid-\#($0)","message_type":"DISPLAY_NOTIFICATION","event":"MESSAGE_DELIVERED"}"#
        }
        try lines.joined(separator: "\n").write(toFile: files("export.json"), atomically: false, encoding: .utf8)
        #expect(try shop.bellwether.run("import", "fcm-export", "--app", "shop", files("export.json")).status == 0)
        #expect(try shop.becomesLevel())
        // They count in the first, and are not seen in the four weeks before the second.
        for (name, start) in [("invites", "2026-11-25"), ("later", "2027-03-01")] {
            try shop.database.run(
                """
                INSERT INTO registry.experiment_version
                    (app, experiment, version, control, threshold, salt, starts_at, campaigns, goals)
                SELECT id, '\(name)', 1, 50, '\\x8000000000000000', 'pepper', '\(start)', '{}', '{}' FROM log.app
                WHERE slug = 'shop'
                """)
        }
        // What retention leaves of an install.
        let sealed = [
            "sealed_delivery (notification_key": "'gone'",
            "sealed_install_day (from_at, to_at": "min(device_at), max(device_at)",
        ]
        for (table, values) in sealed {
            try shop.database.run(
                """
                INSERT INTO projection.\(table), first_device_at, last_device_at, install_id, app, shard)
                SELECT \(values), min(device_at), max(device_at), install_id, app, shard FROM log.opened_event
                GROUP BY install_id, app, shard
                """)
        }
    }

    private func list(_ shop: ProjectedShop, _ install: String) throws -> [[String: Any]] {
        let ended = try shop.bellwether.run(
            "access", "--app", "shop", "--install", install, "--format", "ndjson")
        #expect(ended.status == 0, "\(ended)")
        return try ended.output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    /// Every row of every table, as text, by table.
    private func everything(_ shop: ProjectedShop) throws -> [String: [String]] {
        let tables: [String] = try shop.database.column(
            """
            SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class AS c
                JOIN pg_namespace AS n ON n.oid = c.relnamespace
            WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_'
            """)
        var rows: [String: [String]] = [:]
        for table in tables {
            rows[table] = try shop.database.column(Statement("SELECT t::text FROM \(table) AS t", []))
        }
        return rows
    }

    @Test("it is exactly what erase removes, table by table, and afterwards nothing")
    func same() throws {
        try ProjectedShop.open { shop in
            try fill(shop)
            let listed = try list(shop, install)
            let count = Dictionary(grouping: listed) { $0["kind"] as? String ?? "" }.mapValues(\.count)
            #expect(count["events"] == 5 && count["rejected_events"] == 2 && count["client_drops"] == 1, "\(count)")
            #expect(count["fcm_export"] == 1 && count["fcm_messages"] == 1, "\(count)")
            #expect(
                count["sealed_deliveries"] == 1 && count["sealed_install_days"] == 1 && count["deliveries"] == 2,
                "\(count)")
            let times = listed.filter { $0["kind"] as? String == "events" }.compactMap { $0["occurred_at"] as? String }
            #expect(times == times.sorted() && times.count == 5)
            #expect(
                listed.contains { ($0["extra"] as? [String: Any])?["carrier"] as? [String: NSNull] == ["a": NSNull()] })

            // Each is in the arm in which the experiment counts it.
            let arms = try (listed + list(shop, other)).filter { $0["kind"] as? String == "arms" }
            #expect(arms.count == 2 && arms.allSatisfy { $0["experiment"] as? String == "invites" }, "\(arms)")
            for arm in ["control", "treated"] {
                let counted: Int64 = try shop.database.value(
                    "SELECT installs FROM analytics.experiments WHERE experiment = 'invites' AND arm = \(arm)")
                #expect(arms.count { $0["arm"] as? String == arm } == counted, "\(arms)")
            }

            let before = try everything(shop)
            let erased = try shop.bellwether.run("erase", "--app", "shop", "--install", install)
            #expect(erased.status == 0, "\(erased)")
            let after = try everything(shop)
            // Where the rows of each kind are kept.
            let kinds = [
                ("log.event", "events"), ("log.rejected", "rejected_events"), ("log.client_drop", "client_drops"),
                ("sends.fcm_row", "fcm_export"), ("sends.fcm_message", "fcm_messages"),
                ("projection.delivery", "deliveries"), ("projection.install_day", "install_days"),
                ("projection.sealed_delivery", "sealed_deliveries"),
                ("projection.sealed_install_day", "sealed_install_days"), ("projection.goal_touch", "goal_touches"),
                ("projection.goal", "goals"), ("projection.sealed_goal", "sealed_goals"),
            ]
            // Arms follow from the days, and are kept nowhere.
            var unexplained = count.filter { $0.key != "arms" }
            for (table, rows) in before {
                let left = Set(after[table] ?? [])
                let gone = rows.filter { !left.contains($0) }
                // Tables of a generation and of a month have more behind their name.
                let kind = kinds.first { "\(table)_".hasPrefix($0.0 + "_") && !table.contains(/cells|bases/) }?.1
                // What is no row of an install may have changed, as counts have; nothing that names it is there
                // unlisted.
                guard let kind else {
                    #expect(!gone.contains { $0.lowercased().contains(install) }, "\(table): \(gone)")
                    continue
                }
                unexplained[kind, default: 0] -= gone.count
                for row in after[table] ?? [] { #expect(!row.lowercased().contains(install), "\(table): \(row)") }
            }
            #expect(unexplained.allSatisfy { $0.value == 0 }, "\(unexplained) of \(count)")
            // Only the list of erased ids knows it.
            let naming = after.filter { $0.value.contains { $0.lowercased().contains(install) } }
            #expect(naming.keys.sorted() == ["log.erasure"], "\(naming)")

            let nothing = try shop.bellwether.run("access", "--app", "shop", "--install", install)
            let object = try #require(
                try JSONSerialization.jsonObject(with: Data(nothing.output.utf8)) as? [String: Any])
            #expect(object["install_id"] as? String == install && object["events"] as? [String] == [])
            #expect(object.values.allSatisfy { ($0 as? [Any])?.isEmpty ?? true })
            #expect(
                nothing.messages.contains("Nothing is held about it.") && nothing.messages.contains("It was erased at"))
            #expect(try list(shop, install).isEmpty)
            // What the other one sent is still there, but for the event that named the first.
            #expect(try list(shop, other).count == listed.count - 1)
        }
    }

    @Test("wrong words are usage errors, an unknown app is named, an unknown install has nothing")
    func mistakes() throws {
        let shared = try SharedService.get()
        let app = try shared.makeApp()
        let bellwether = try shared.bellwether
        #expect(try bellwether.run("access", "--app", app.slug).status == 64)
        #expect(try bellwether.run("access", "--install", install).status == 64)
        #expect(try bellwether.run("access", "--app", app.slug, "--install", "me").status == 64)
        let unknown = try bellwether.run("access", "--app", "nobody", "--install", install)
        #expect(unknown.status == 1 && unknown.output.isEmpty && unknown.messages.contains("'nobody'"), "\(unknown)")
        let nothing = try bellwether.run("access", "--app", app.slug, "--install", install)
        #expect(nothing.status == 0 && nothing.messages == "Nothing is held about it.\n", "\(nothing)")
    }
}
