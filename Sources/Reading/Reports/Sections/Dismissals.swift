internal import Postgres
internal import Telemetry

/// Where iOS reports dismissals at all: of categories that are registered with `custom_dismiss`, and of no others.
/// Elsewhere a 0 means nothing, and a dash stands for it.
struct Dismissals: Hashable, Sendable {
    /// The categories of which it does.
    var categories: Set<ExactName> = []
    /// The listed campaigns and groups with a delivery in one of these on the day. Nil if single deliveries are not
    /// looked at.
    var campaigns: Set<ExactName>? = []
    var threads: Set<ExactName>? = []

    static func read(
        _ scope: ReportScope, on connection: inout Connection
    ) throws(PostgresError) -> Dismissals {
        let categories = try connection.query(
            """
            SELECT category FROM analytics.categories
            WHERE app = \(scope.app) AND custom_dismiss AND retired_at IS NULL
            """
        ).map { row throws(PostgresError) in ExactName(try row.get(0)) }
        guard !categories.isEmpty else { return Dismissals() }
        // Single deliveries are looked at for a day only.
        guard case .day = scope.period else {
            return Dismissals(categories: Set(categories), campaigns: nil, threads: nil)
        }
        return Dismissals(categories: Set(categories))
    }

    /// Which of these campaigns and groups had such a delivery.
    mutating func find(
        campaigns: [String], threads: [String], _ scope: ReportScope, on connection: inout Connection
    ) throws(PostgresError) {
        guard self.campaigns != nil, !categories.isEmpty else { return }
        let rows = try connection.query(
            """
            SELECT DISTINCT CASE WHEN campaign = ANY (\(campaigns)) THEN campaign END,
                CASE WHEN thread = ANY (\(threads)) THEN thread END
            FROM analytics.deliveries
            WHERE app = \(scope.app) AND day = \(scope.day) AND NOT silent
                AND category = ANY (\(categories.map(\.text)))
            """)
        for row in rows {
            if let campaign: String = try row.optional(0) { self.campaigns?.insert(ExactName(campaign)) }
            if let thread: String = try row.optional(1) { self.threads?.insert(ExactName(thread)) }
        }
    }

    func areReported(ofCategory name: String) -> Bool { categories.contains(ExactName(name)) }
    func areReported(ofCampaign name: String) -> Bool { contains(campaigns, name) }
    func areReported(ofThread name: String) -> Bool { contains(threads, name) }

    private func contains(_ names: Set<ExactName>?, _ name: String) -> Bool {
        names?.contains(ExactName(name)) ?? false
    }
}

extension FunnelCounts {
    /// How many were dismissed; a dash where nobody could say.
    func dismissedField(areReported: Bool) -> Table.Field {
        .number("Dismissed", areReported || dismissed > 0 ? Wording.count(dismissed) : "–")
    }
}
