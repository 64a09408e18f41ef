import FunnelOracle
import HistoryFold
import Projections
import Telemetry
import Values

import struct Foundation.TimeZone

/// One delivery, told event by event in seconds after the midnight that begins 2026-03-10 in Bangkok.
struct Scene {
    /// 2026-03-09T17:00:00Z
    static let midnight = Timestamp(microseconds: 1_773_075_600_000_000)
    static let zone = "Asia/Bangkok"

    private(set) var events: [StoredEvent] = []

    init(_ tell: (inout Scene) -> Void = { _ in }) { tell(&self) }

    /// Ids count up from 1 unless one is given.
    mutating func add(
        _ interaction: Interaction, _ seconds: Double, seq: Int64? = nil, id: UInt64? = nil, deviceAt: Double? = nil,
        category: String? = nil, alert: Bool? = nil
    ) {
        let occurredAt = Scene.midnight + Int64((seconds * 1_000_000).rounded())
        let event = Event(
            id: UUID(high: 7, low: id ?? UInt64(events.count + 1)),
            deviceAt: deviceAt.map { Scene.midnight + Int64($0 * 1_000_000) } ?? occurredAt, occurredAt: occurredAt,
            receivedAt: occurredAt, timeSource: .device, seq: seq, source: Source(installID: UUID(high: 1, low: 2)),
            notification: Notification(id: "n1", category: category, alert: alert), interaction: interaction)
        events.append(StoredEvent(app: "shop", event: event))
    }

    var log: WrittenLog { WrittenLog(events) { _ in Scene.timeZone } }

    /// All observations, in the order in which they were told.
    var observations: [Observation] { log.rows.map(\.observation) }

    var funnels: Funnels { Oracle.funnels(of: events) { _ in Scene.timeZone } }

    /// What the oracle holds against folding all of it.
    var differences: [String] { log.differences(from: funnels, in: log.deliveries) }

    private static var timeZone: TimeZone {
        guard let zone = TimeZone(identifier: zone) else { fatalError("the time-zone data know no \(zone)") }
        return zone
    }
}

extension Interaction {
    static let receipt = Interaction.received(Receipt(via: .serviceExtension))

    static func silent(_ result: FetchResult? = nil) -> Interaction {
        .received(Receipt(via: .background, fetchResult: result))
    }

    static func tap(_ action: String, _ activation: Activation? = nil) -> Interaction {
        .actionTapped(ActionTap(actionID: action, activation: activation))
    }

    static func page(_ index: Int) -> Interaction { .pageShown(PageShown(pageIndex: Int16(index))) }
}
