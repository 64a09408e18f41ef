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

/// What the events of an envelope say alike of their install, and what the events of some processes say beside it.
///
/// An app and its extension differ in a member or two, such as the version, and their events alternate. Members that all
/// have alike stand once, in the envelope; the others on each event, where they go before the envelope's, one by one
/// (CONTRACT 2). So the service reads of each event just the source that it was recorded with.
struct SharedSource: Sendable {
    /// The envelope's `source`, as a JSON object.
    let shared: [UInt8]
    /// What events of each of the sources say themselves, as a JSON object; empty where it is nothing.
    let own: [[UInt8]]

    /// Of a single source, whatever it is, all is shared.
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

    /// Whether it can be taken apart into members.
    static func isDivisible(_ source: [UInt8]) -> Bool { members(of: source) != nil }

    /// Whether an event can be given a source of its own.
    static func canBear(_ event: ArraySlice<UInt8>) -> Bool {
        event.count > 2 && event.first == UInt8(ascii: "{") && event.last == UInt8(ascii: "}")
    }

    /// How many bytes a source of its own adds to an event.
    func growth(at source: Int) -> Int { own[source].isEmpty ? 0 : own[source].count + SharedSource.frame.count + 1 }

    private static let frame = Array(#"{"source":"#.utf8)

    /// Appends an event with what its source says beside the shared one.
    func write(_ event: ArraySlice<UInt8>, of source: Int, to bytes: inout [UInt8]) {
        guard !own[source].isEmpty else {
            bytes += event
            return
        }
        bytes += SharedSource.frame + own[source]
        bytes.append(UInt8(ascii: ","))
        bytes += event.dropFirst()
    }

    /// The members by their names' order; nothing unless all are texts, as the library writes them.
    private static func members(of source: [UInt8]) -> [JSONValue.Field]? {
        guard case .object(let fields)? = JSONValue(parsingObject: String(decoding: source, as: UTF8.self)),
            fields.allSatisfy({ $0.value.text != nil })
        else { return nil }
        return fields.sorted { $0.name < $1.name }
    }

    private static func object(_ fields: [JSONValue.Field]) -> [UInt8] {
        var bytes: [UInt8] = []
        JSONValue.object(fields).write(to: &bytes)
        return bytes
    }
}
