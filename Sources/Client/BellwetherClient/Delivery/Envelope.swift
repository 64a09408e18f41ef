internal import Foundation

/// The body of one request. It contains each event's JSON exactly as it was recorded, so a retry sends the same bytes.
struct Envelope: Sendable {
    /// The maximum uncompressed size that a server takes.
    static let longest = 512 << 10
    static let mostEvents = 1000

    let bytes: [UInt8]

    /// The source is written once if all events have the same one. Events of an app and its extension differ in it:
    /// then each event carries its own, which gzip makes small. Drops are those of the envelope's install.
    init(_ batch: Batch, sentAt: Moment) {
        var bytes = Array(#"{"sent_at":"\#(sentAt)""#.utf8)
        bytes.reserveCapacity(Envelope.longest)
        let isShared = batch.sources.count == 1
        if isShared {
            bytes += Array(#","source":"#.utf8) + batch.sources[0]
        } else if let install = batch.install {
            bytes += Array(#","source":{"install_id":"\#(install.uuidString.lowercased())"}"#.utf8)
        }
        bytes += Array(#","events":["#.utf8)
        for (index, event) in batch.events.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            if isShared {
                bytes += event.json
            } else {
                bytes += Envelope.frame + batch.sources[event.source]
                bytes.append(UInt8(ascii: ","))
                bytes += event.json.dropFirst()
            }
        }
        bytes.append(UInt8(ascii: "]"))
        if !batch.drops.isEmpty {
            bytes += Array(#","dropped":[\#(batch.drops.map(\.json).joined(separator: ","))]"#.utf8)
        }
        bytes.append(UInt8(ascii: "}"))
        self.bytes = bytes
    }

    private static let frame = Array(#"{"source":"#.utf8)

    /// How many bytes an event takes, with the comma, and with its source if it carries that itself.
    static func size(of record: Record, withSource: Bool) -> Int {
        record.event.count + 1 + (withSource ? frame.count + record.source.count : 0)
    }

    /// Whether the event can carry its source: both are objects, and the event is not empty.
    static func canCarrySource(_ record: Record) -> Bool {
        [record.event, record.source].allSatisfy { $0.first == UInt8(ascii: "{") && $0.last == UInt8(ascii: "}") }
            && record.event.count > 2
    }
}
