import JSON
import Telemetry

/// Gathers what no column holds into the text of one JSON object.
struct ExtraWriter {
    private var writer = JSONWriter()
    /// Bytes that were left out because there were far too many.
    private var unwritten = 0

    /// Adds the leftovers of the event itself.
    mutating func write(_ event: ObjectReader<Member>) {
        for (key, value) in event.leftovers {
            separate()
            writer.write(key: key, value)
        }
    }

    /// Adds the leftovers of an object of the event, under the object's name.
    mutating func write(_ object: ObjectReader<Member>, under name: StaticString) {
        let leftovers = object.leftovers
        guard !leftovers.isEmpty else { return }
        write(name, leftovers) { writer, member in writer.write(key: member.key, member.value) }
    }

    /// Adds the leftovers of the `source`.
    mutating func write(_ source: Leftovers) {
        unwritten += source.unwritten
        guard !source.members.isEmpty else { return }
        write("source", source.members) { writer, member in writer.bytes.append(contentsOf: member.text) }
    }

    /// The object, or how large it would be; nil if it is empty.
    consuming func finish() -> [UInt8]? {
        guard !writer.isEmpty || unwritten > 0 else { return nil }
        writer.write(raw: "}")
        let count = writer.bytes.count + unwritten
        return count <= Bounds.extra ? writer.bytes : Array("{\"_dropped\":\(count)}".utf8)
    }

    private mutating func write<Item>(
        _ name: StaticString, _ members: [Item], _ body: (inout JSONWriter, Item) -> Void
    ) {
        separate()
        writer.write(raw: "\"\(name)\":{")
        for (position, member) in members.enumerated() {
            if position > 0 { writer.write(raw: ",") }
            body(&writer, member)
        }
        writer.write(raw: "}")
    }

    private mutating func separate() {
        writer.write(raw: writer.isEmpty ? "{" : ",")
    }
}
