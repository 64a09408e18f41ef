import CatalogueSupport
import Envelopes
import Ingestion
import Telemetry
import Testing
import Values

/// The moment at which every envelope of these tests arrives.
let received = Timestamp(rfc3339: "2026-11-20T09:30:13Z") ?? Timestamp(microseconds: 0)

let install = "8f2f6f0e-6a0c-4d3a-9a52-0d6c2f6f7a11"

/// An envelope around events.
func envelope(
    _ events: [String], source: String? = "{\"install_id\":\"\(install)\"}", more: String = ""
) -> String {
    (source.map { "{\"source\":\($0)," } ?? "{") + more + "\"events\":[\(events.joined(separator: ","))]}"
}

/// Keys of what a person typed, of which nothing may be kept.
let freeTextKeys = ["text", "user_text", "reply", "input"]

/// Decodes a body.
func decode(_ text: String) throws(EnvelopeError) -> DecodedEnvelope {
    try EnvelopeDecoder().decode(body: Array(text.utf8), receivedAt: received)
}

/// Decodes one event between two good ones, which must come through whatever is in the middle.
func decodeAmongNeighbours(
    _ event: String, source: String? = "{\"install_id\":\"\(install)\"}", more: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
) throws -> DecodedEnvelope.Item {
    let first = EventText("action.tapped", id: "00000000-0000-0000-0000-000000000001").text
    let last = EventText("story.finished", id: "00000000-0000-0000-0000-000000000002").text
    let decoded = try decode(envelope([first, event, last], source: source, more: more))
    try #require(decoded.items.count == 3, sourceLocation: sourceLocation)
    #expect(decoded.items[0].event?.id == UUID(high: 0, low: 1), sourceLocation: sourceLocation)
    #expect(decoded.items[0].event?.extra == nil, sourceLocation: sourceLocation)
    #expect(decoded.items[2].event?.id == UUID(high: 0, low: 2), sourceLocation: sourceLocation)
    let raw = decoded.rawEvent(1)
    if freeTextKeys.contains(where: { event.contains("\"\($0)\":") }) {
        #expect(!freeTextKeys.contains { raw.contains("\"\($0)\":") }, "\(raw)", sourceLocation: sourceLocation)
    } else {
        #expect(raw.utf8.elementsEqual(event.utf8.prefix(Bounds.rawEvent)), sourceLocation: sourceLocation)
    }
    return decoded.items[1]
}

extension DecodedEnvelope.Item {
    var event: Event? {
        if case .event(let event) = self { event } else { nil }
    }

    var rejection: Rejection? {
        if case .rejected(_, _, let rejection) = self { rejection } else { nil }
    }

    /// The id that a rejected event is answered with.
    var rejectedID: UUID? {
        if case .rejected(let id, _, _) = self { id } else { nil }
    }

    /// The install that a rejected event is kept with.
    var rejectedInstall: UUID? {
        if case .rejected(_, let install, _) = self { install } else { nil }
    }
}

extension Event {
    var extraText: String? { extra.map { String(decoding: $0, as: UTF8.self) } }
}
