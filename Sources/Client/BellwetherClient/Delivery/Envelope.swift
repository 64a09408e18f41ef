/// The body of one request. It contains each event's JSON exactly as it was recorded, so a retry sends the same bytes.
struct Envelope: Sendable {
    /// The maximum uncompressed size that a server takes.
    static let longest = 512 << 10
    static let mostEvents = 1000

    let bytes: [UInt8]

    init(_ batch: Batch, sentAt: Moment) {
        var bytes = Array(#"{"sent_at":"\#(sentAt)""#.utf8)
        bytes.reserveCapacity(Envelope.longest)
        let source = SharedSource(batch.sources)
        if !source.shared.isEmpty { bytes += Array(#","source":"#.utf8) + source.shared }
        bytes += Array(#","events":["#.utf8)
        for (index, event) in batch.events.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
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

/// The members of the source that all events of an envelope share, and the members that only some of them have.
///
/// An app and its extension differ in one or two members, such as the version, and their events alternate. Shared
/// members are written once, in the envelope. The others are written on each event, where each takes precedence over
/// the envelope's member (CONTRACT 2). So the service sees each event with exactly the source that it was recorded
/// with.
struct SharedSource: Sendable {
    /// The envelope's `source`, as a JSON object.
    let shared: [UInt8]
    /// For each source, a JSON object of the members that its events carry themselves; empty if there are none.
    let own: [[UInt8]]

    /// If there is only one source, all of it is shared.
    init(_ sources: [[UInt8]]) {
        let members = sources.map { SharedSource.members(of: $0) ?? [] }
        guard sources.count > 1, let first = members.first else {
            shared = sources.first ?? []
            own = sources.map { _ in [] }
            return
        }
        let common = Set(first).intersection(members.dropFirst().reduce(Set(first)) { $0.intersection($1) })
        shared = SharedSource.object(first.filter { common.contains($0) })
        own = members.map { members in
            let rest = members.filter { !common.contains($0) }
            return rest.isEmpty ? [] : SharedSource.object(rest)
        }
    }

    /// Whether the source can be split into members.
    static func isDivisible(_ source: [UInt8]) -> Bool { members(of: source) != nil }

    /// Whether a source can be added to the event.
    static func canBear(_ event: ArraySlice<UInt8>) -> Bool {
        event.count > 2 && event.first == UInt8(ascii: "{") && event.last == UInt8(ascii: "}")
    }

    /// How many bytes the source's own members add to an event.
    func growth(at source: Int) -> Int { own[source].isEmpty ? 0 : own[source].count + SharedSource.frame.count + 1 }

    private static let frame = Array(#"{"source":"#.utf8)

    /// Appends an event with the members of its source that are not shared.
    func write(_ event: ArraySlice<UInt8>, of source: Int, to bytes: inout [UInt8]) {
        guard !own[source].isEmpty else {
            bytes += event
            return
        }
        bytes += SharedSource.frame + own[source]
        bytes.append(UInt8(ascii: ","))
        bytes += event.dropFirst()
    }

    /// The members, sorted by name; nil unless all of them are strings, or objects of strings, as the library writes
    /// them.
    private static func members(of source: [UInt8]) -> [JSONValue.Field]? {
        guard case .object(let fields)? = JSONValue(parsingObject: String(decoding: source, as: UTF8.self)) else {
            return nil
        }
        return sorted(fields, levels: 1)
    }

    private static func sorted(_ fields: [JSONValue.Field], levels: Int) -> [JSONValue.Field]? {
        var sorted: [JSONValue.Field] = []
        for field in fields.sorted(by: { $0.name < $1.name }) {
            switch field.value {
            case .text: sorted.append(field)
            case .object(let inner) where levels > 0:
                guard let inner = SharedSource.sorted(inner, levels: levels - 1) else { return nil }
                sorted.append(JSONValue.Field(field.name, .object(inner)))
            default: return nil
            }
        }
        return sorted
    }

    private static func object(_ fields: [JSONValue.Field]) -> [UInt8] {
        var bytes: [UInt8] = []
        JSONValue.object(fields).write(to: &bytes)
        return bytes
    }
}
