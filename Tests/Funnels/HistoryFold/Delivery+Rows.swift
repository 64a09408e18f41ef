package import FunnelOracle
package import Projections
import Telemetry
import Values

extension WrittenLog {
    /// Deliveries as their view shows them, with the columns of the oracle's table.
    package func rows(of deliveries: [Projections.Delivery], as table: FunnelTable) -> [[String?]] {
        deliveries.map { delivery in
            let columns = names(of: delivery).merging(facts(of: delivery)) { $1 }
            return table.columns.map { columns[$0] }
        }
    }

    private func names(of delivery: Projections.Delivery) -> [String: String] {
        let app = delivery.name.app
        let attributes = delivery.facts.attributes
        let span = delivery.state.span
        return [
            "app": slug(of: app), "install_id": delivery.name.install.description,
            "notification_key": delivery.name.notificationKey, "day": delivery.day.description,
            "category": word("category", attributes.category, of: app),
            "campaign": word("campaign", attributes.campaign, of: app),
            "variant": word("variant", attributes.variant, of: app),
            "thread": word("thread", attributes.thread, of: app),
            "platform": word("platform", attributes.platform, of: app),
            "app_version": word("app_version", attributes.appVersion, of: app),
            "origin": Origin.wire(ofCode: attributes.origin),
            "first_occurred_at": span.firstOccurredAt.description,
            "last_occurred_at": span.lastOccurredAt.description,
            "first_device_at": span.firstDeviceAt.description, "last_device_at": span.lastDeviceAt.description,
        ]
    }

    private func facts(of delivery: Projections.Delivery) -> [String: String] {
        let facts = delivery.facts
        var columns = [
            "media_kind": MediaKind.wire(ofCode: facts.media.kind),
            "media_network": MediaNetwork.wire(ofCode: facts.media.network),
            "media_outcome": MediaOutcome.wire(ofCode: facts.media.outcome), "items": String(facts.items),
            "responded": String(facts.flags.isResponded), "unanswered": String(facts.flags.isUnanswered),
            "received_responded": String(facts.flags.isResponded && facts.flags.contains(.received)),
        ]
        columns["answered_at"] = facts.answeredAt?.description
        columns["received_at"] = facts.receivedAt?.description
        columns["opened_at"] = facts.openedAt?.description
        columns["first_response_at"] = facts.firstResponse?.at.description
        columns["first_response"] =
            switch facts.firstResponse?.kind {
            case .opened: "opened"
            case .storyAction: "story_action"
            case .action(let id): word("action_id", id, of: delivery.name.app)
            case nil: nil
            }
        let attributes = facts.attributes
        for (name, id) in [
            ("os_version", attributes.osVersion), ("device_model", attributes.deviceModel),
            ("locale", attributes.locale),
            ("interruption_level", attributes.interruptionLevel), ("topic", attributes.topic),
            ("analytics_label", attributes.analyticsLabel),
        ] where id != 0 {
            columns[name] = word(name, id, of: delivery.name.app)
        }
        columns["authorization"] = Authorization(rawValue: attributes.authorization)?.wire
        columns["reach"] = Reach(rawValue: attributes.reach)?.wire
        columns["fetch_result"] = FetchResult(rawValue: facts.fetchResult)?.wire
        columns["launch"] = Launch(rawValue: attributes.launch)?.wire
        for (name, flag) in Self.flags { columns[name] = String(facts.flags.contains(flag)) }
        if let story = facts.story {
            columns["story_exit"] = String(describing: story.exit)
            columns["furthest"] = story.furthest.map { String($0) }
            columns["pages"] = String(story.pages)
        }
        return columns
    }

    private static let flags: [(name: String, flag: DeliveryFlags)] = [
        ("silent", .silent), ("received", .received), ("expanded", .expanded), ("opened", .opened),
        ("dismissed", .dismissed), ("action_tapped", .actionTapped), ("story_action_tapped", .storyActionTapped),
        ("media_attached", .mediaAttached), ("story_started", .storyStarted), ("story_finished", .storyFinished),
        ("suppressed", .suppressed), ("sole", .sole),
    ]
}
