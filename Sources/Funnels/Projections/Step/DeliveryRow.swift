internal import Telemetry
internal import Values

/// A delivery as its row holds it.
struct DeliveryRow: StoredRow {
    let key: Int64
    let generation: Int32
    let delivery: Delivery

    init(_ delivery: Delivery, in table: DeliveryTable) {
        (key, generation, self.delivery) = (table.key(of: delivery.name), table.number, delivery)
    }

    private var facts: Facts { delivery.facts }
    private var said: Attributes { delivery.facts.attributes }
    private var span: DeliveryState.Span { delivery.state.span }

    /// Places of bits are frozen, since stored rows hold them: a new member comes last.
    static func columns<Sink: RowSink>(_ row: inout Sink) where Sink.Row == DeliveryRow {
        row.put("key", .plain, .own) { $0.key }
        row.put("generation", .plain, .own) { $0.generation }
        row.put("app", .app, .name) { $0.delivery.name.app }
        row.put("shard", .plain, .own) { $0.delivery.name.shard }
        row.put("day") { $0.delivery.day }
        row.put("install_id", .plain, .name) { $0.delivery.name.install }
        row.put("notification_key", .plain, .name) { $0.delivery.name.notificationKey }
        row.put("flags", .flags(DeliveryFlags.names)) { $0.facts.flags.rawValue }
        row.word("category") { $0.said.category }
        row.word("campaign") { $0.said.campaign }
        row.word("variant") { $0.said.variant }
        row.word("thread") { $0.said.thread }
        row.word("platform") { $0.said.platform }
        row.word("app_version") { $0.said.appVersion }
        row.word("os_version") { $0.said.osVersion }
        row.word("device_model") { $0.said.deviceModel }
        row.word("locale") { $0.said.locale }
        row.word("interruption_level") { $0.said.interruptionLevel }
        row.word("topic") { $0.said.topic }
        row.word("analytics_label") { $0.said.analyticsLabel }
        row.put("first_response", .response) { $0.facts.firstResponse?.kind.code }
        row.number("items", mostly: 1) { $0.facts.items }
        row.number("furthest", mostly: -1) { $0.facts.story?.furthest ?? -1 }
        row.number("pages", mostly: 0) { $0.facts.story?.pages ?? 0 }
        row.bits(2, "origin", .code(Origin.allCases.map(\.wire))) { $0.said.origin }
        row.bits(3, "authorization", .code(Authorization.allCases.map(\.wire))) { $0.said.authorization }
        row.bits(2, "launch", .code(Launch.allCases.map(\.wire))) { $0.said.launch }
        row.bits(3, "media_kind", .code(MediaKind.allCases.map(\.wire))) { $0.facts.media.kind }
        row.bits(2, "media_network", .code(MediaNetwork.allCases.map(\.wire))) { $0.facts.media.network }
        row.bits(3, "media_outcome", .code(MediaOutcome.allCases.map(\.wire))) { $0.facts.media.outcome }
        row.bits(2, "fetch_result", .code(FetchResult.allCases.map(\.wire))) { $0.facts.fetchResult }
        row.bits(3, "story_exit", .code(["clicked", "finished", "fallback", "abandoned"])) {
            $0.facts.story?.exit.rawValue ?? 0
        }
        row.bits(2, "reach", .code(Reach.allCases.map(\.wire))) { $0.said.reach }
        row.packed("codes", as: Int32.self)
        row.put("first_occurred_at", .time) { $0.first }
        row.time("last_occurred_at", or: "first_occurred_at", { $0.first }) { $0.last }
        row.time("first_device_at", or: "first_occurred_at", { $0.first }) { $0.span.firstDeviceAt }
        row.time("last_device_at", or: "last_occurred_at", { $0.last }) { $0.span.lastDeviceAt }
        row.time(
            "received_at", if: [.silent, .received], or: "first_occurred_at", { $0.first }
        ) { $0.facts.receivedAt }
        // A row is looked up by it only if no event says when the notification was sent.
        row.time(
            "extension_at", if: .unsent, or: "received_at", { $0.facts.receivedAt }
        ) { $0.facts.extensionAt }
        row.time("opened_at", if: .opened, or: "last_occurred_at", { $0.last }) { $0.facts.openedAt }
        row.time(
            "first_response_at", if: .response, or: "last_occurred_at", { $0.last }
        ) { $0.facts.firstResponse?.at }
        row.time(
            "answered_at", if: .response.union(.dismissed), or: "last_occurred_at", { $0.last }
        ) { $0.facts.answeredAt }
        row.put("state", .plain, .own) { $0.delivery.state.encoded() }
    }

    fileprivate var first: Timestamp { span.firstOccurredAt }
    fileprivate var last: Timestamp { span.lastOccurredAt }
}

extension RowSink where Row == DeliveryRow {
    /// A time that only deliveries with one of these flags have.
    @inline(__always)
    fileprivate mutating func time(
        _ name: StaticString, if flags: DeliveryFlags, or known: StaticString, _ knownTime: (Row) -> Timestamp?,
        _ value: (Row) -> Timestamp?
    ) {
        time(name, or: known, knownTime, where: flags.any) { row in
            row.delivery.facts.flags.isDisjoint(with: flags) ? nil : value(row)
        }
    }
}

extension DeliveryTable {
    package static let layout = RowLayout.of(DeliveryRow.self)

    /// SQL for the rows of one table with a column for each fact.
    static func opened(_ number: Int32) -> String { "(SELECT \(layout.all) FROM projection.\(name(number)) AS d)" }

    /// The opened rows of all tables, as a view for the analysts' views and for an owner in psql.
    package static let openedView = layout.view(
        of: parent, and: DeliveryFlags.columns,
        "Deliveries with a column for each fact: ids of log.word, codes as in log.opened_event. analytics.deliveries shows their names"
    )
}

extension DeliveryFlags {
    static let response: DeliveryFlags = [.opened, .actionTapped, .storyActionTapped]

    /// SQL: a row `d` has one of them.
    var any: String { "d.flags & \(rawValue) <> 0" }

    /// SQL: a row `d` has none of them.
    var none: String { "d.flags & \(rawValue) = 0" }

    /// Their names, the lowest bit first.
    static let names = facts.filter { $0.flag != nil }.sorted { $0.flag ?? 0 < $1.flag ?? 0 }.map(\.name)

    /// SQL for a column of each fact.
    fileprivate static let columns = facts.map { ",\n    \($0.sql) AS \($0.name)" }.joined()

    /// What is true or false of a delivery, by one flag or by several.
    private static let facts: [(name: String, flag: Int32?, sql: String)] = [
        fact("silent", .silent), fact("received", .received), fact("expanded", .expanded), fact("opened", .opened),
        fact("dismissed", .dismissed), fact("action_tapped", .actionTapped),
        fact("story_action_tapped", .storyActionTapped), fact("media_attached", .mediaAttached),
        ("responded", nil, response.any), ("received_responded", nil, "\(received.any) AND \(response.any)"),
        fact("sole", .sole), ("unanswered", nil, response.union([.silent, .dismissed]).none),
        fact("suppressed", .suppressed), fact("story_started", .storyStarted), fact("story_finished", .storyFinished),
        fact("unsent", .unsent),
    ]

    private static func fact(_ name: String, _ flag: DeliveryFlags) -> (name: String, flag: Int32?, sql: String) {
        (name, flag.rawValue, flag.any)
    }
}

extension Facts.Response.Kind {
    /// The value as its column holds it.
    package var code: Int32 {
        switch self {
        case .opened: -1
        case .storyAction: -2
        case .action(let id): id
        }
    }
}
