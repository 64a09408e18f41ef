/// What one request carries, put together from JSON that is kept as it was recorded: a retry repeats it unchanged.
struct Envelope: Sendable {
    /// What an envelope may have, uncompressed, and what a server takes in one.
    static let longest = 512 << 10
    static let mostEvents = 1000

    let bytes: [UInt8]

    init(_ batch: Batch, sentAt: Moment) {
        var bytes = Array(#"{"sent_at":"\#(sentAt)""#.utf8)
        bytes.reserveCapacity(Envelope.longest)
        let source = SharedSource(batch.sources)
        if !source.shared.isEmpty { bytes += Array(#","source":"#.utf8) + source.shared }
        bytes += Array(#","events":["#.utf8)
        for (place, event) in batch.events.enumerated() {
            if place > 0 { bytes.append(UInt8(ascii: ",")) }
            source.write(event.json, of: event.source, to: &bytes)
        }
        bytes.append(UInt8(ascii: "]"))
        if !batch.drops.isEmpty {
            bytes += Array(#","dropped":[\#(batch.drops.map(\.json).joined(separator: ","))]"#.utf8)
        }
        bytes.append(UInt8(ascii: "}"))
        self.bytes = bytes
    }
}
