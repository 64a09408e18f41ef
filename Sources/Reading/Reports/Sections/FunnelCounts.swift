internal import Postgres
internal import ServiceRuntime

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
    /// Those of `responded` and `receivedResponded` whose only response was a button that closes or declines.
    var closed: Int64 = 0
    var receivedClosed: Int64 = 0

    var engaged: Int64 { responded - closed }
    var receivedEngaged: Int64 { receivedResponded - receivedClosed }
    var engagementRate: Rate { Rate(receivedEngaged, of: received) }
    /// Whether receipts are missing of many who responded. Where they come only from the notification centre, they are
    /// those of notifications that nobody touched, and rates of received deliveries are too low.
    var lacksReceiptsOfResponses: Bool {
        responded >= FunnelCounts.leastResponses && receivedResponded * 5 < responded * 4
    }
    private static let leastResponses: Int64 = 10

    var inferred: Int64 { delivered - received }
    var responseRate: Rate { Rate(receivedResponded, of: received) }
    var receiptCoverage: Rate { Rate(received, of: delivered) }

    /// Named like the columns of the funnels in `analytics`.
    var facts: [Fact] {
        [
            .count("delivered", delivered), .count("received", received), .count("inferred", inferred),
            .count("expanded", expanded), .count("opened", opened), .count("action_tapped", actionTapped),
            .count("story_action_tapped", storyActionTapped), .count("responded", responded),
            .count("received_responded", receivedResponded), .count("engaged", engaged),
            .count("received_engaged", receivedEngaged), .count("dismissed", dismissed),
            .count("unanswered", unanswered), .count("suppressed", suppressed),
            .count("media_attached", mediaAttached),
        ] + engagementRate.facts("engagement_rate") + responseRate.facts("response_rate") + [
            .number("receipt_coverage", receiptCoverage.value)
        ]
    }
}

extension FunnelCounts {
    static func + (left: Self, right: Self) -> Self { left.combined(right) { $0.addingSaturated($1) } }
    static func - (left: Self, right: Self) -> Self { left.combined(right) { $0 - $1 } }

    private func combined(_ other: Self, _ combine: (Int64, Int64) -> Int64) -> Self {
        var all = self
        for count in Self.all { all[keyPath: count] = combine(self[keyPath: count], other[keyPath: count]) }
        return all
    }

    /// In the order of `sums`.
    private static var all: [WritableKeyPath<Self, Int64>] {
        [
            \.delivered, \.received, \.expanded, \.opened, \.actionTapped, \.storyActionTapped, \.responded,
            \.receivedResponded, \.dismissed, \.unanswered, \.suppressed, \.mediaAttached, \.closed, \.receivedClosed,
        ]
    }
}

extension FunnelCounts {
    /// How many columns they are.
    static let width = 14

    /// Their sums over rows of a funnel.
    static let sums: StaticString =
        """
        sum(delivered)::bigint AS delivered,
        sum(received)::bigint AS received,
        sum(expanded)::bigint AS expanded,
        sum(opened)::bigint AS opened,
        sum(action_tapped)::bigint AS action_tapped,
        sum(story_action_tapped)::bigint AS story_action_tapped,
        sum(responded)::bigint AS responded,
        sum(received_responded)::bigint AS received_responded,
        sum(dismissed)::bigint AS dismissed,
        sum(unanswered)::bigint AS unanswered,
        sum(suppressed)::bigint AS suppressed,
        sum(media_attached)::bigint AS media_attached,
        sum(responded - engaged)::bigint AS closed,
        sum(received_responded - received_engaged)::bigint AS received_closed
        """

    /// From so many columns of a row, in the order of `sums`.
    init(_ row: Rows.Row, from column: Int) throws(PostgresError) {
        self.init()
        for (place, count) in Self.all.enumerated() { self[keyPath: count] = try row.get(column + place) }
    }
}

extension FunnelCounts {
    /// The rate that a table leads with, with its interval: that of engagement where closing a notification by a button
    /// is known from other responses, else that of response. Then the other one, if both are told.
    func rates(leadingWithEngagement leads: Bool) -> [Table.Field] {
        let rate = leads ? engagementRate : responseRate
        var lead = Table.Field.bar(leads ? "Engagement rate" : "Response rate", rate)
        if lacksReceiptsOfResponses { lead.cell.text += FunnelCounts.mark }
        return [lead, .interval(rate)] + (leads ? [.percent("Response rate", responseRate)] : [])
    }

    static let mark = " *"
}

extension [FunnelCounts] {
    /// What the mark behind a rate means, if there is one.
    var markNote: [Block] {
        guard prefix(Table.mostRows).contains(where: \.lacksReceiptsOfResponses) else { return [] }
        return [
            .sentence(
                "* Of those who responded, fewer than 80 % have a receipt, so the rate is probably too low.", .note)
        ]
    }
}

extension Block {
    /// A table of names with the columns that people compare. A rate stands beside the numbers that it is made of, and
    /// a note says what they are shares of, and what they leave out.
    static func funnels(
        _ caption: String, _ title: String, none: String, leadingWithEngagement leads: Bool,
        of list: [(name: String, counts: FunnelCounts, areDismissalsReported: Bool)]
    ) -> [Block] {
        let table = Table(caption, of: list) { name, counts, areDismissalsReported in
            [
                .name(title, name, else: none), .count("Delivered", counts.delivered),
                .count("Received", counts.received),
                leads
                    ? .count("Engaged", counts.receivedEngaged) : .count("Responded", counts.receivedResponded),
            ] + counts.rates(leadingWithEngagement: leads) + [
                counts.dismissedField(areReported: areDismissalsReported)
            ]
        }
        let others = list.reduce(0) { $0 + $1.counts.responded - $1.counts.receivedResponded }
        return [
            .table(table),
            .sentence(
                "Rates are shares of received."
                    + (others > 0 ? " \(Wording.count(others)) more responded without a receipt and are in none." : ""),
                .note),
        ] + list.map(\.counts).markNote
    }
}
