internal import Telemetry
internal import Values

/// A row of the view `deliveries`: the fold itself, silent deliveries too.
///
/// The contract says what the view holds but names few of its columns: the other names here are the oracle's own, as
/// are `''` for a delivery without media outcome and null for one without a story.
package struct DeliveryRow: FunnelRow {
    package let name: Delivery.Name
    package let facts: DeliveryFacts
    let fetchResult: FetchResult?

    package static let view = "deliveries"
    package static let isSum = false

    package static var keyColumns: [Column<DeliveryRow>] {
        [
            Column("app", \.name.app), Column("install_id") { .text(Label($0.name.install.description)) },
            Column("notification_key", \.name.notificationKey),
        ]
    }

    package static var numberColumns: [Column<DeliveryRow>] { attributes + flags + story + times + firsts }

    private static var attributes: [Column<DeliveryRow>] {
        [
            Column("day") { .day($0.facts.day) }, Column("category", \.facts.category),
            Column("campaign", \.facts.campaign), Column("variant", \.facts.variant),
            Column("thread", \.facts.thread), Column("origin", \.facts.origin),
            Column("platform", \.facts.platform), Column("app_version", \.facts.appVersion),
            Column("media_kind") { .text($0.facts.media?.kind ?? .empty) },
            Column("media_network") { .text($0.facts.media?.network ?? .empty) },
            Column("media_outcome") { .text($0.facts.media?.outcome ?? .empty) },
            Column("items", \.facts.items),
        ]
    }

    private static var flags: [Column<DeliveryRow>] {
        [
            Column("silent", \.facts.silent), Column("received", \.facts.received),
            Column("expanded", \.facts.expanded), Column("opened", \.facts.opened),
            Column("dismissed", \.facts.dismissed), Column("action_tapped", \.facts.actionTapped),
            Column("story_action_tapped", \.facts.storyActionTapped),
            Column("media_attached", \.facts.mediaAttached), Column("responded", \.facts.responded),
            Column("received_responded", \.facts.receivedResponded), Column("unanswered", \.facts.unanswered),
            Column("suppressed", \.facts.suppressed), Column("sole") { .flag($0.facts.soleAction != nil) },
        ]
    }

    private static var story: [Column<DeliveryRow>] {
        [
            Column("story_started") { .flag($0.facts.story?.started ?? false) },
            Column("story_finished") { .flag($0.facts.story?.finished ?? false) },
            Column("story_exit") { $0.facts.story.map { .text(Label($0.exit.rawValue)) } ?? .null },
            Column("furthest") { $0.facts.story?.furthest.map { .number(Int64($0)) } ?? .null },
            Column("pages") { $0.facts.story.map { .number(Int64($0.pages)) } ?? .null },
        ]
    }

    private static var times: [Column<DeliveryRow>] {
        [
            Column("first_occurred_at") { .time($0.facts.firstOccurredAt) },
            Column("last_occurred_at") { .time($0.facts.lastOccurredAt) },
            Column("first_device_at") { .time($0.facts.firstDeviceAt) },
            Column("last_device_at") { .time($0.facts.lastDeviceAt) },
            Column("answered_at") { $0.facts.answeredAt.map { .time($0) } ?? .null },
        ]
    }

    private static var firsts: [Column<DeliveryRow>] {
        [
            Column("received_at") { $0.facts.receivedAt.map { .time($0) } ?? .null },
            Column("opened_at") { $0.facts.openedAt.map { .time($0) } ?? .null },
            Column("first_response_at") { $0.facts.firstResponseAt.map { .time($0) } ?? .null },
            Column("first_response") { $0.facts.firstResponse.map { .text($0) } ?? .null },
            Column("locale") { $0.facts.locale.map { .text($0) } ?? .null },
            Column("os_version") { $0.facts.osVersion.map { .text($0) } ?? .null },
            Column("device_model") { $0.facts.deviceModel.map { .text($0) } ?? .null },
            Column("authorization") { $0.facts.authorization.map { .text($0) } ?? .null },
            Column("reach") { $0.facts.reach.map { .text($0) } ?? .null },
            Column("interruption_level") { $0.facts.interruptionLevel.map { .text($0) } ?? .null },
            Column("topic") { $0.facts.topic.map { .text($0) } ?? .null },
            Column("analytics_label") { $0.facts.analyticsLabel.map { .text($0) } ?? .null },
            Column("fetch_result") { $0.fetchResult.map { .text(Label($0.wire)) } ?? .null },
            Column("launch") { $0.facts.launch.map { .text($0) } ?? .null },
        ]
    }

    package static func rows(of deliveries: [Delivery]) -> [DeliveryRow] {
        deliveries.map { delivery in
            DeliveryRow(
                name: delivery.name, facts: delivery.facts,
                fetchResult: delivery.events.compactMap { $0.receipt?.fetchResult }.last)
        }
        .sortedByKey()
    }
}
