import CatalogueSupport
import Envelopes
import Simulation
import Telemetry
import Testing
import Values

/// What a fortnight and a day of an app sends, read as the service reads it.
struct Fortnight {
    static let start = Timestamp(rfc3339: "2026-11-05T23:00:00Z") ?? Timestamp(microseconds: 0)
    static let day: Int64 = 86_400_000_000
    /// Noon of the last day, and a morning after it.
    static let lastDay = start + (14 * day + day / 2)
    static let end = start + (15 * day + day / 3)

    static let news = Fortnight(.news)
    static let shop = Fortnight(.shop)

    private let name: String
    private(set) var envelopes: [Envelope] = []
    private(set) var decoded: [DecodedEnvelope] = []
    /// Valid ones, each once.
    private(set) var events: [Event] = []
    private(set) var repeated = 0
    /// What its senders told.
    private(set) var sends: [SendText] = []

    init(_ app: AppProfile, seed: UInt64 = 7, installs: Int = 500, audience: Audience = Audience()) {
        name = app.slug
        var world = World(
            app, seed: seed, installs: installs, from: Fortnight.start, lastDay: Fortnight.lastDay, audience: audience)
        let decoder = EnvelopeDecoder()
        var seen: Set<Identity> = []
        for envelope in world.advance(to: Fortnight.end) {
            envelopes.append(envelope)
            guard
                let envelope = try? decoder.decode(
                    body: envelope.body(sentAt: envelope.time), receivedAt: envelope.time + 400_000)
            else { continue }
            decoded.append(envelope)
            for case .event(let event) in envelope.items {
                let isNew = seen.insert(
                    Identity(install: event.source.installID, id: event.id, at: event.deviceAt)
                ).inserted
                if isNew { events.append(event) } else { repeated += 1 }
            }
        }
        sends = world.takeSends()
    }

    /// By what the service knows an event again.
    private struct Identity: Hashable {
        let install: UUID
        let id: UUID
        let at: Timestamp
    }

    /// Deliveries of a category, by install and key.
    func deliveries(_ category: String? = nil) -> [[Event]] {
        let chosen = events.filter {
            $0.notification.key != nil && (category == nil || $0.notification.category == category)
        }
        return Dictionary(grouping: chosen) { "\($0.source.installID) \($0.notificationKey ?? "")" }.values.map { $0 }
    }

    /// Taps by button.
    func taps(_ category: String) -> [String: [Event]] {
        var taps: [String: [Event]] = [:]
        for event in events where event.notification.category == category {
            if case .actionTapped(let tap) = event.interaction { taps[tap.actionID, default: []].append(event) }
        }
        return taps
    }
}

extension Fortnight: CustomTestStringConvertible {
    var testDescription: String { name }
}
