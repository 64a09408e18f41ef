internal import Postgres

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

    /// The same numbers counted from deliveries.
    static let countsOfDeliveries: StaticString =
        """
        count(*), count(*) FILTER (WHERE received), count(*) FILTER (WHERE expanded), count(*) FILTER (WHERE opened),
        count(*) FILTER (WHERE action_tapped), count(*) FILTER (WHERE story_action_tapped),
        count(*) FILTER (WHERE responded), count(*) FILTER (WHERE received_responded),
        count(*) FILTER (WHERE dismissed), count(*) FILTER (WHERE unanswered), count(*) FILTER (WHERE suppressed),
        count(*) FILTER (WHERE media_attached)
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
