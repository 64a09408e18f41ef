internal import Telemetry

/// Per (app, day, category, kind, format, network, outcome, reason): whether attachments arrive, and whether they help.
enum MediaFunnel: Projector {
    static let name = "media_funnel"
    static let version: Int32 = 2
    static let tables = [
        TallyTable(
            name,
            keys: [
                .category,
                .code(
                    "kind", MediaKind.allCases.map(\.wire),
                    "image, video, audio or unknown; '' where that event does not say"),
                .word("format", "File format of the attachment, as posted; '' where that event does not say"),
                .code(
                    "network", MediaNetwork.allCases.map(\.wire),
                    "Network it came over: wifi, cellular or other; '' where that event does not say"),
                .code(
                    "outcome", MediaOutcome.allCases.map(\.wire),
                    "attached, prefetched, timed_out, failed, skipped or none"),
                .code(
                    "reason", MediaReason.allCases.map(\.wire),
                    "Why it was not attached: cellular, too_large, unsupported_type, insecure_url, "
                        + "network or invalid; '' where that event does not say"
                ),
            ],
            columns: [
                .count(
                    "deliveries", "Deliveries. Only receipts give an outcome, so each of these deliveries has a receipt"
                ),
                .count(
                    "responded", "Deliveries that were opened, or had a button or a story's call to action tapped"),
                .count("received", "Deliveries with a receipt"),
                .count("received_responded", "Deliveries that responded and have a receipt"),
                .count(
                    "bytes",
                    "Sum of the sizes of the attachments in bytes, where given. A size over 2 GiB counts as 2 GiB"),
                .count("ms", "Sum of the times that the downloads took in milliseconds, where given"),
                .count("timed", "Deliveries for which that time is given"),
                .rate(
                    "response_rate", "received_responded", "received",
                    "received_responded / received: the same measure as in category_funnel"),
                .derived(
                    "mean_seconds", "round(f.ms / nullif(1000 * f.timed, 0), 4)",
                    "Mean time of a download in seconds: ms / timed / 1000; null if timed is 0"),
            ],
            view: .sums(
                """
                Deliveries with a media outcome, by what became of the attachment. Each delivery counts once, by its first event \
                with an outcome. Silent deliveries do not count.
                """),
            recount: .init(
                """
                SELECT
                    app, day, \(names), count(*) AS deliveries,
                    count(*) FILTER (WHERE responded) AS responded,
                    count(*) FILTER (WHERE received) AS received,
                    count(*) FILTER (WHERE received_responded) AS received_responded,
                    sum(media_bytes)::bigint AS bytes,
                    coalesce(sum(media_ms), 0)::bigint AS ms,
                    count(media_ms) AS timed
                FROM recount_delivery WHERE NOT silent AND media_outcome <> 0
                GROUP BY app, day, category, media_kind, media_format, media_network, media_outcome, media_reason
                """,
                behind: """
                    \(sameDay) AND \(noneSilent) AND EXISTS (
                        SELECT FROM recount_delivery AS r
                        WHERE r.app = d.app AND r.install_id = d.install_id AND r.notification_key = d.notification_key
                            AND (r.category, r.media_kind, r.media_format, r.media_network, r.media_outcome, r.media_reason)
                                = (cell.category, cell.kind, cell.format, cell.network, cell.outcome, cell.reason))
                    """))
    ]

    private static let names = """
        category, media_kind AS kind, media_format AS format, media_network AS network, media_outcome AS outcome, media_reason AS reason
        """

    static func count(_ delivery: Delivery, _ weight: Int64, into tallies: inout [Tally]) {
        let facts = delivery.facts
        let media = facts.media
        guard !facts.flags.isSilent, media.outcome != 0 else { return }
        let isResponded: Int64 = facts.flags.isResponded ? 1 : 0
        let isReceived: Int64 = facts.flags.contains(.received) ? 1 : 0
        tallies[0].add(
            [
                1, isResponded, isReceived, isResponded & isReceived, Int64(media.bytes),
                Int64(media.milliseconds ?? 0),
                media.milliseconds == nil ? 0 : 1,
            ], times: weight,
            at: Tally.Keys(
                facts.attributes.category, Int32(media.kind), media.format, Int32(media.network), Int32(media.outcome),
                Int32(media.reason)), of: delivery)
    }
}
