import FunnelOracle
import Telemetry
import Testing
import Values

import struct Foundation.TimeZone

/// A hand-made delivery: its events, told by seconds after noon (UTC) of 2026-03-10.
struct Example {
    /// 2026-03-10T12:00:00Z
    static let noon = Timestamp(microseconds: 1_773_144_000_000_000)
    static let install = UUID(high: 1, low: 1)

    var key: String
    var app = "shop"
    var install = Example.install
    var category: String? = "NEWS"
    var thread: String?
    var campaign: String?
    var alert: Bool?

    init(_ key: String = "n1", category: String? = "NEWS", thread: String? = nil, campaign: String? = nil) {
        self.key = key
        self.category = category
        self.thread = thread
        self.campaign = campaign
    }

    /// An event of it, with an id made of what it is unless one is given.
    func event(
        _ interaction: Interaction, _ seconds: Double = 0, seq: Int64? = nil, id: UInt64? = nil,
        deviceAt: Double? = nil,
        platform: String? = "ios", appVersion: String? = "4.2.0"
    ) -> StoredEvent {
        let occurredAt = Example.noon + Int64((seconds * 1_000_000).rounded())
        let event = Event(
            id: id.map { UUID(high: 7, low: $0) } ?? derivedID(interaction, occurredAt, seq),
            deviceAt: deviceAt.map { Example.noon + Int64($0 * 1_000_000) } ?? occurredAt, occurredAt: occurredAt,
            receivedAt: occurredAt, timeSource: .device, seq: seq,
            source: Source(installID: install, platform: platform, appVersion: appVersion),
            notification: Notification(
                id: key, category: category, thread: thread, campaign: campaign, alert: alert),
            interaction: interaction)
        return StoredEvent(app: app, event: event)
    }

    /// Different events get different ids, the same event the same.
    private func derivedID(_ interaction: Interaction, _ time: Timestamp, _ seq: Int64?) -> UUID {
        let high = key.utf8.reduce(0) { $0 &* 31 &+ UInt64($1) }
        let low = UInt64(time.microseconds) << 8 | UInt64(interaction.type.rawValue) << 4 | UInt64(seq ?? 0)
        return UUID(high: high, low: low)
    }
}

extension Interaction {
    static let receipt = Interaction.received(Receipt(via: .serviceExtension))
    static let open = Interaction.opened(launch: nil)

    static func silent(_ result: FetchResult? = nil) -> Interaction {
        .received(Receipt(via: .background, fetchResult: result))
    }

    static func foreground(_ presentation: [PresentationOption]?) -> Interaction {
        .received(Receipt(via: .foreground, presentation: presentation))
    }

    static func media(
        _ outcome: MediaOutcome?, kind: MediaKind? = nil, network: MediaNetwork? = nil
    ) -> Interaction {
        .received(Receipt(via: .serviceExtension, media: Media(kind: kind, outcome: outcome, network: network)))
    }

    static func items(_ count: Int64?) -> Interaction {
        .received(Receipt(via: .serviceExtension, summaryArgumentCount: count))
    }

    static func tap(_ action: String, _ activation: Activation? = nil) -> Interaction {
        .actionTapped(ActionTap(actionID: action, activation: activation))
    }

    static func start(_ pages: Int16) -> Interaction { .storyStarted(StoryStart(pageCount: pages)) }
    static func page(_ index: Int16) -> Interaction { .pageShown(PageShown(pageIndex: index)) }
    static func click(_ index: Int16) -> Interaction { .storyActionTapped(StoryActionTap(pageIndex: index)) }
    static let fallback = Interaction.fallbackShown(reason: nil)
}

/// The funnels of an app that reports in UTC, or as told.
func funnels(_ events: [StoredEvent], in zone: String = "UTC") throws -> Funnels {
    let zone = try #require(TimeZone(identifier: zone))
    return Oracle.funnels(of: events) { _ in zone }
}

/// What a row counts, without the zeros: what is not named here is 0.
func counts(_ row: some FunnelRow) -> [String: Int64] {
    func nonzero<Row: FunnelRow>(_ row: Row) -> [String: Int64] {
        var counts: [String: Int64] = [:]
        for column in Row.numberColumns {
            if case .number(let number) = column.cell(row), number != 0 { counts[column.name] = number }
        }
        return counts
    }
    return nonzero(row)
}
