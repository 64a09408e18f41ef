import Postgres
import Telemetry
import TestSupport
import Testing

@Suite("A question by an attribute of deliveries")
struct DeliveryScanTests {
    @Test(
        "is one scan of a day, without the log and without a look-up for each row",
        arguments: [
            "locale", "os_version", "device_model", "\"authorization\"", "topic", "analytics_label",
            "interruption_level",
            "first_response", "launch",
        ])
    func plan(attribute: String) throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        try app.insert(
            "delivery", ["locale": try app.word(.locale, "th-TH"), "flags": 2],
            texts: [
                "install_id": "00000000-0000-0000-0000-000000000001", "notification_key": "k", "state": "\\x00",
                "first_occurred_at": "2026-11-20 09:00:00Z",
            ])
        try database.run(
            """
            INSERT INTO projection.delivery
            SELECT made.* FROM projection.delivery AS pattern, generate_series(1, 20000) AS n,
                jsonb_populate_record(pattern, jsonb_build_object('key', n, 'notification_key', n, 'day',
                    date '2026-11-01' + n % 30)) AS made;
            ANALYZE projection.delivery;
            """)
        let plan: [String] = try database.column(
            """
            EXPLAIN SELECT \(attribute), count(*), count(*) FILTER (WHERE received_responded),
                percentile_cont(0.5) WITHIN GROUP (ORDER BY first_response_at - received_at)
            FROM analytics.deliveries WHERE app = 'chat' AND day = '2026-11-20' AND NOT silent GROUP BY 1
            """)
        // Live and sealed deliveries are two partitions; each is read once, and the log not at all.
        let read = plan.filter { $0.contains(" on delivery_") && $0.contains("Scan") && !$0.contains("Bitmap Index") }
        #expect(
            Set(read.compactMap { $0.split(separator: " on ").last?.split(separator: " ").first }).count == read.count)
        #expect(
            read.count <= 2 && !plan.contains { $0.contains(" on event") || $0.contains("Nested Loop Left Join") },
            "\(plan)")
    }
}
