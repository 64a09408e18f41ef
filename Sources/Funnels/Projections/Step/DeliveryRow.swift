internal import EventLog
internal import Values

/// A code in the bits of a delivery's `codes`. Stored rows hold them, so their places are frozen.
package struct DeliveryCode: Sendable {
    package let name: String
    private let first: Int32
    private let bits: Int32

    /// These bits with this code in its place.
    package func bits(of code: Int16) -> Int32 { Int32(code) << first }

    /// SQL for the code of a row `d`; NULL if there is none.
    fileprivate var opened: String {
        "nullif(d.codes >> \(first) & \((1 << bits) - 1), 0)::smallint AS \"\(name)\""
    }

    static let origin = DeliveryCode(name: "origin", first: 0, bits: 2)
    static let authorization = DeliveryCode(name: "authorization", first: 2, bits: 3)
    static let launch = DeliveryCode(name: "launch", first: 5, bits: 2)
    static let mediaKind = DeliveryCode(name: "media_kind", first: 7, bits: 3)
    static let mediaNetwork = DeliveryCode(name: "media_network", first: 10, bits: 2)
    static let mediaOutcome = DeliveryCode(name: "media_outcome", first: 12, bits: 3)
    static let fetchResult = DeliveryCode(name: "fetch_result", first: 15, bits: 2)
    static let storyExit = DeliveryCode(name: "story_exit", first: 17, bits: 3)
    static let reach = DeliveryCode(name: "reach", first: 20, bits: 2)

    package static let all = [
        origin, authorization, launch, mediaKind, mediaNetwork, mediaOutcome, fetchResult, storyExit,
        reach,
    ]

    static func packed(_ facts: Facts) -> Int32 {
        let attributes = facts.attributes
        return origin.bits(of: attributes.origin) | authorization.bits(of: attributes.authorization)
            | launch.bits(of: attributes.launch) | mediaKind.bits(of: facts.media.kind)
            | mediaNetwork.bits(of: facts.media.network) | mediaOutcome.bits(of: facts.media.outcome)
            | fetchResult.bits(of: facts.fetchResult) | storyExit.bits(of: facts.story?.exit.rawValue ?? 0)
            | reach.bits(of: attributes.reach)
    }
}

/// A fact about a delivery that is true or false, as the bits of `flags` tell it.
private struct DeliveryFact {
    let name: String
    /// SQL for the fact of a row `d`.
    let sql: String

    /// True with any of these bits.
    init(_ name: String, _ flags: DeliveryFlags) {
        self.name = name
        sql = Self.any(flags)
    }

    /// True with any bit of each.
    init(_ name: String, _ flags: DeliveryFlags, and others: DeliveryFlags) {
        self.name = name
        sql = "\(Self.any(flags)) AND \(Self.any(others))"
    }

    /// True with none of these bits.
    init(_ name: String, none flags: DeliveryFlags) {
        self.name = name
        sql = "d.flags & \(flags.rawValue) = 0"
    }

    private static func any(_ flags: DeliveryFlags) -> String { "d.flags & \(flags.rawValue) <> 0" }

    private static let response: DeliveryFlags = [.opened, .actionTapped, .storyActionTapped]

    static let all = [
        DeliveryFact("silent", .silent), DeliveryFact("received", .received), DeliveryFact("expanded", .expanded),
        DeliveryFact("opened", .opened), DeliveryFact("dismissed", .dismissed),
        DeliveryFact("action_tapped", .actionTapped), DeliveryFact("story_action_tapped", .storyActionTapped),
        DeliveryFact("media_attached", .mediaAttached), DeliveryFact("responded", response),
        DeliveryFact("received_responded", .received, and: response), DeliveryFact("sole", .sole),
        DeliveryFact("unanswered", none: response.union([.silent, .dismissed])),
        DeliveryFact("suppressed", .suppressed), DeliveryFact("story_started", .storyStarted),
        DeliveryFact("story_finished", .storyFinished), DeliveryFact("unsent", .unsent),
    ]
}

/// The times of a delivery as its row holds them: nil if another column says the same.
struct DeliveryTimes {
    let firstOccurredAt: Timestamp
    let lastOccurredAt: Timestamp?
    let firstDeviceAt: Timestamp?
    let lastDeviceAt: Timestamp?
    let receivedAt: Timestamp?
    let extensionAt: Timestamp?
    let openedAt: Timestamp?
    let firstResponseAt: Timestamp?
    let answeredAt: Timestamp?

    init(_ delivery: Delivery) {
        let (span, facts) = (delivery.state.span, delivery.facts)
        func unless(_ known: Timestamp, _ time: Timestamp?) -> Timestamp? { time == known ? nil : time }
        firstOccurredAt = span.firstOccurredAt
        lastOccurredAt = unless(span.firstOccurredAt, span.lastOccurredAt)
        firstDeviceAt = unless(span.firstOccurredAt, span.firstDeviceAt)
        lastDeviceAt = unless(span.lastOccurredAt, span.lastDeviceAt)
        receivedAt = unless(span.firstOccurredAt, facts.receivedAt)
        // A row is looked up by it only if no event says when the notification was sent.
        extensionAt = facts.flags.contains(.unsent) && facts.extensionAt != facts.receivedAt ? facts.extensionAt : nil
        openedAt = unless(span.lastOccurredAt, facts.openedAt)
        firstResponseAt = unless(span.lastOccurredAt, facts.firstResponse?.at)
        answeredAt = unless(span.lastOccurredAt, facts.answeredAt)
    }
}

extension DeliveryTable {
    /// SQL that restores the omitted values in the rows of one table.
    static func opened(_ number: Int32) -> String { "(SELECT \(openedColumns) FROM projection.\(name(number)) AS d)" }

    /// The opened rows of all tables, as a view for the analysts' views and for an owner in psql.
    package static let openedView = """
        -- Why: rows of projection.delivery are packed. This opens them: a column for each fact, words and codes as their numbers.
        CREATE OR REPLACE VIEW projection.opened_delivery AS
        SELECT \(openedColumns),
            \(DeliveryFact.all.map { "\($0.sql) AS \($0.name)" }.joined(separator: ",\n    "))
        FROM projection.delivery AS d
        WHERE \(ClusterMap.isShown("d.shard"));

        COMMENT ON VIEW projection.opened_delivery IS 'Deliveries with a column for each fact: ids of log.word, codes as in log.opened_event. analytics.deliveries shows their names';
        -- The schema's default gives more, which only its tables need.
        REVOKE INSERT, UPDATE, DELETE ON projection.opened_delivery FROM bellwether_projector;

        """

    private static let openedColumns = """
        d.key, d.generation, d.app, d.shard, d.day, d.install_id, d.notification_key, d.flags, d.category, d.campaign, d.variant,
            d.thread, d.platform, d.app_version, d.os_version, d.device_model, d.locale, d.interruption_level, d.topic,
            d.analytics_label, d.first_response, d.items, d.furthest, d.pages,
            \(DeliveryCode.all.map(\.opened).joined(separator: ", ")),
            d.first_occurred_at, coalesce(d.last_occurred_at, d.first_occurred_at) AS last_occurred_at,
            coalesce(d.first_device_at, d.first_occurred_at) AS first_device_at,
            coalesce(d.last_device_at, d.last_occurred_at, d.first_occurred_at) AS last_device_at,
            CASE WHEN d.flags & 3 <> 0 THEN coalesce(d.received_at, d.first_occurred_at) END AS received_at,
            CASE WHEN d.flags & 4096 <> 0 THEN coalesce(d.extension_at, d.received_at, d.first_occurred_at) END AS extension_at,
            CASE WHEN d.flags & 8 <> 0 THEN coalesce(d.opened_at, d.last_occurred_at, d.first_occurred_at) END AS opened_at,
            CASE WHEN d.flags & (8 | 32 | 64) <> 0 THEN coalesce(d.first_response_at, d.last_occurred_at, d.first_occurred_at)
                END AS first_response_at,
            CASE WHEN d.flags & (8 | 16 | 32 | 64) <> 0 THEN coalesce(d.answered_at, d.last_occurred_at, d.first_occurred_at)
                END AS answered_at,
            d.state
        """
}
