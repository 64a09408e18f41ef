internal import Postgres
internal import Telemetry

/// What became of the events that were received on the day, over all keys.
struct Quality: Hashable, Sendable {
    var accepted: Int64 = 0
    var duplicate: Int64 = 0
    var rejected: Int64 = 0
    /// The most frequent first.
    var rejectedByReason: [Reason] = []
    var corrected: Int64 = 0
    var clamped: Int64 = 0
    var late: Int64 = 0
    /// As clients report it. It can be absurd, up to the largest number there is: add nothing to it.
    var clientDropped: Int64 = 0

    var isEmpty: Bool { accepted == 0 && duplicate == 0 && rejected == 0 && clientDropped == 0 }

    struct Reason: Hashable, Sendable {
        var reason: String
        var events: Int64
    }
}

enum QualitySection: ReportSection {
    static func read(into report: inout Report, _ scope: ReportScope, on connection: inout Connection)
        throws(PostgresError)
    {
        let rows = try connection.query(
            """
            WITH quality AS MATERIALIZED (
                SELECT * FROM analytics.data_quality WHERE app = \(scope.app)
                    AND day BETWEEN \(scope.firstDay) AND \(scope.day)
            )
            SELECT * FROM (
                SELECT
                    NULL AS reason, coalesce(sum(rejected), 0)::bigint AS rejected, coalesce(sum(accepted), 0)::bigint,
                    coalesce(sum(duplicate), 0)::bigint, coalesce(sum(corrected), 0)::bigint,
                    coalesce(sum(clamped), 0)::bigint, coalesce(sum(late), 0)::bigint,
                    -- What clients say they dropped can be an absurd number.
                    least(coalesce(sum(client_dropped), 0), 9223372036854775807)::bigint
                FROM quality
                UNION ALL
                SELECT refused.reason, sum(refused.events::bigint)::bigint, 0, 0, 0, 0, 0, 0
                FROM quality CROSS JOIN jsonb_each_text(rejected_by_reason) AS refused (reason, events)
                GROUP BY refused.reason
            ) AS part
            ORDER BY rejected DESC, reason COLLATE "C"
            """)
        var reasons: [Quality.Reason] = []
        for row in rows {
            if let reason: String = try row.optional(0) {
                reasons.append(Quality.Reason(reason: reason, events: try row.get(1)))
                continue
            }
            report.quality = Quality(
                accepted: try row.get(2), duplicate: try row.get(3), rejected: try row.get(1),
                corrected: try row.get(4), clamped: try row.get(5), late: try row.get(6), clientDropped: try row.get(7))
        }
        report.quality.rejectedByReason = reasons
    }

    static func words(_ report: Report) -> Page.Section? {
        let quality = report.quality
        guard !quality.isEmpty else { return nil }
        let received = quality.accepted + quality.duplicate + quality.rejected
        let dropped = "Dropped by clients"
        let rows: [(String, Int64, String)] =
            [
                ("Stored", quality.accepted, "new events"),
                ("Duplicates", quality.duplicate, Glossary.duplicate),
                ("Rejected", quality.rejected, "kept in rejected_events"),
            ] + quality.rejectedByReason.map { ("  \($0.reason)", $0.events, "") } + [
                ("Late", quality.late, Glossary.late),
                ("Corrected", quality.corrected, Glossary.corrected),
                ("Clamped", quality.clamped, Glossary.clamped),
                (dropped, quality.clientDropped, Glossary.dropped),
            ]
        let table = Table(
            "What became of the received events", of: rows.filter { $0.1 > 0 }, most: rows.count
        ) { what, events, meaning in
            [
                .text("What", what), .count("Events", events),
                .percent("Of received", what == dropped ? nil : Rate(events, of: received)), .text("", meaning),
            ]
        }
        let words = "Events received \(report.period.time), whenever they occurred: \(Wording.count(received))."
        return Page.Section("Data quality", [.sentence(words, .plain), .table(table)])
    }

    static func facts(_ report: Report) -> [EntryList] {
        let quality = report.quality
        return .single(
            "data_quality",
            Entry(
                facts: [
                    .count("accepted", quality.accepted), .count("duplicate", quality.duplicate),
                    .count("rejected", quality.rejected), .count("corrected", quality.corrected),
                    .count("clamped", quality.clamped), .count("late", quality.late),
                    .count("client_dropped", quality.clientDropped),
                ],
                lists: [
                    .list("rejected_by_reason", quality.rejectedByReason) {
                        Entry(keys: [.text("reason", $0.reason)], facts: [.count("events", $0.events)])
                    }
                ]))
    }
}
