import CatalogueSupport
package import Envelopes
import JSON
import Telemetry
import Values

/// What holds for every body that anybody may send.
package enum EnvelopeLaw {
    private static let received = Timestamp(microseconds: 1_795_167_013_000_000)

    /// Each law that a body broke, in words; as an envelope, or as a batch of CloudEvents.
    package static func broken(
        by body: [UInt8], asCloudEvents isBatch: Bool = false, in decoder: EnvelopeDecoder = EnvelopeDecoder()
    ) -> [String] {
        var broken: [String] = []
        let decoded: DecodedEnvelope
        do throws(EnvelopeError) {
            decoded =
                isBatch
                ? try decoder.decode(cloudEvents: body, receivedAt: received)
                : try decoder.decode(body: body, receivedAt: received)
        } catch {
            return error.description.utf8.contains(0) ? ["an error tells of a NUL"] : []
        }
        for (index, item) in decoded.items.enumerated() {
            if String(validating: decoded.raw.event(index), as: UTF8.self) == nil {
                broken.append("what is kept of event \(index) is no text")
            }
            switch item {
            case .rejected(_, _, let rejection): broken += faults(of: rejection)
            case .event(let event): broken += faults(of: event)
            }
        }
        return broken
    }

    private static func faults(of rejection: Rejection) -> [String] {
        if rejection.detail.utf8.contains(0) { return ["a detail holds a NUL"] }
        return rejection.detail.utf8.count < 600 ? [] : ["a detail is endless"]
    }

    /// What is stored is only what PostgreSQL can hold.
    private static func faults(of event: Event) -> [String] {
        var broken: [String] = []
        if event.notificationKey?.isEmpty ?? event.type.isOfDelivery {
            broken.append("an event has no notification")
        }
        for text in texts(in: event) where text.utf8.contains(0) || text.utf8.count > Bounds.string {
            broken.append("a text cannot be held")
        }
        if !Timestamp.plausible.contains(event.deviceAt) || !Timestamp.plausible.contains(event.occurredAt) {
            broken.append("a time lies outside the years")
        }
        if let seq = event.seq, !Bounds.seq.contains(seq) { broken.append("a seq is out of bounds") }
        if let extra = event.extra {
            let isFit = JSONParser(maximumBytes: 1 << 20).withDocument(extra.span) { root in
                root.isObject && !root.holdsNUL
            }
            if (try? isFit.get()) != true || extra.count > Bounds.extra { broken.append("extra is not fit for jsonb") }
        }
        return broken
    }

    /// All texts of an event, whichever members hold them.
    private static func texts(in value: Any) -> [String] {
        if let text = value as? String { return [text] }
        return Mirror(reflecting: value).children.flatMap { texts(in: $0.value) }
    }
}
