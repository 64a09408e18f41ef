internal import Postgres

/// The columns that every per-category funnel has.
package struct FunnelCounts: Hashable, Sendable {
    package var delivered: Int64 = 0
    var received: Int64 = 0
    var expanded: Int64 = 0
    var opened: Int64 = 0
    var actionTapped: Int64 = 0
    var storyActionTapped: Int64 = 0
    var responded: Int64 = 0
    var receivedResponded: Int64 = 0
    var dismissed: Int64 = 0
    var unanswered: Int64 = 0
    var suppressed: Int64 = 0
    var mediaAttached: Int64 = 0

    var inferred: Int64 { delivered - received }
    var responseRate: Rate { Rate(receivedResponded, of: received) }
    var receiptCoverage: Rate { Rate(received, of: delivered) }

    /// Named like the columns of the funnels in `analytics`.
    var facts: [Fact] {
        [
            .count("delivered", delivered), .count("received", received), .count("inferred", inferred),
            .count("expanded", expanded), .count("opened", opened), .count("action_tapped", actionTapped),
            .count("story_action_tapped", storyActionTapped), .count("responded", responded),
            .count("received_responded", receivedResponded), .count("dismissed", dismissed),
            .count("unanswered", unanswered), .count("suppressed", suppressed),
            .count("media_attached", mediaAttached), .number("response_rate", responseRate.value),
            .number("receipt_coverage", receiptCoverage.value),
        ]
    }
}

extension FunnelCounts {
    /// The columns of a funnel's row.
    static let columns: StaticString =
        """
        delivered, received, expanded, opened, action_tapped, story_action_tapped, responded, received_responded,
        dismissed, unanswered, suppressed, media_attached
        """

    /// Their sums over rows of a funnel.
    static let sums: StaticString =
        """
        sum(delivered)::bigint, sum(received)::bigint, sum(expanded)::bigint, sum(opened)::bigint,
        sum(action_tapped)::bigint, sum(story_action_tapped)::bigint, sum(responded)::bigint,
        sum(received_responded)::bigint, sum(dismissed)::bigint, sum(unanswered)::bigint, sum(suppressed)::bigint,
        sum(media_attached)::bigint
        """

    /// From twelve columns of a row, in the order of the lists above.
    init(_ row: Rows.Row, from column: Int) throws(PostgresError) {
        delivered = try row.get(column)
        received = try row.get(column + 1)
        expanded = try row.get(column + 2)
        opened = try row.get(column + 3)
        actionTapped = try row.get(column + 4)
        storyActionTapped = try row.get(column + 5)
        responded = try row.get(column + 6)
        receivedResponded = try row.get(column + 7)
        dismissed = try row.get(column + 8)
        unanswered = try row.get(column + 9)
        suppressed = try row.get(column + 10)
        mediaAttached = try row.get(column + 11)
    }
}

extension Block {
    /// A table of names with the columns that people compare. A rate stands beside the two numbers that it is made of, and
    /// a note says what they leave out.
    static func funnels(
        _ caption: String, _ title: String, none: String, of list: [(name: String, counts: FunnelCounts)]
    ) -> [Block] {
        let table = Table(
            caption,
            columns: [
                .name(title), .number("Delivered"), .number("Received"), .number("Coverage"), .number("Responded"),
                .bar("Response rate"), .number("Dismissed"), .number("Unanswered"),
            ],
            of: list
        ) { name, counts in
            [
                .name(name, else: none), .count(counts.delivered), .count(counts.received),
                .percent(counts.receiptCoverage), .count(counts.receivedResponded), .bar(counts.responseRate),
                .count(counts.dismissed), .count(counts.unanswered),
            ]
        }
        let others = list.reduce(0) { $0 + $1.counts.responded - $1.counts.receivedResponded }
        guard others > 0 else { return [.table(table)] }
        return [
            .table(table),
            .sentence(
                "\(Wording.count(others)) more responded without a receipt; rates are of what is known to have arrived.",
                .note),
        ]
    }
}
