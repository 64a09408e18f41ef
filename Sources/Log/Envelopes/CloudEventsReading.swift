import JSON
import Telemetry
import Values

/// Writes a batch of CloudEvents (version 1.0, JSON, structured batch mode) as an envelope, element by element, so that
/// everything from there on is the same: `data` is our event, and the attributes say what it leaves unsaid.
///
/// | attribute | our member |
/// | --- | --- |
/// | `id` | `id`: a UUID as it is; of another text and `source`, a UUID of version 5 |
/// | `type`, `time` | `type`, `at` |
/// | `subject`, else `source` | `source.install_id`: the UUID that it is, or that follows its last `/` or `:` |
/// | extension attributes | `cloudevents`, so that `extra` keeps them |
struct CloudEventsReading {
    /// The most bytes by which an envelope is longer than its batch: for each event an id, an install and punctuation.
    static let mostAdded = Bounds.events * 256

    private let body: [UInt8]
    /// Where something in the body was replaced before it could be parsed, in order.
    private let misfits: [JSONMisfit]
    private var envelope: [UInt8] = []
    /// The last source of an id, and its namespace: a batch often has only one.
    private var namespace: (source: [UInt8], id: UUID)?

    static func envelope(
        of root: JSONValue, _ body: [UInt8], misfits: [JSONMisfit]
    ) throws(EnvelopeError) -> [UInt8] {
        guard root.isArray else { throw .notAnArray }
        guard root.count <= Bounds.events else { throw .tooManyEvents(root.count) }
        var reading = CloudEventsReading(body: body, misfits: misfits)
        reading.write(root)
        return reading.envelope
    }

    private init(body: [UInt8], misfits: [JSONMisfit]) {
        self.body = body
        self.misfits = misfits
        envelope.reserveCapacity(body.count)
    }

    private mutating func write(_ batch: JSONValue) {
        envelope += Array("{\"events\":[".utf8)
        let places = JSONSlicer.elements(ofArrayAt: JSONSlicer.root(in: body.span), in: body.span)
        for (index, (element, place)) in zip(batch.elements, places).enumerated() {
            if index > 0 { envelope.append(UInt8(ascii: ",")) }
            // What is no event, or too large for one, is rejected as it stands.
            if element.isObject, place.count <= Bounds.event {
                write(Object(element, at: place, in: body))
            } else {
                envelope += body[place]
            }
        }
        envelope += Array("]}".utf8)
    }

    /// The members of an object and where they are in the body.
    private struct Object {
        let members: [(key: JSONText, value: JSONValue, place: (key: Range<Int>, value: Range<Int>))]

        init(_ object: JSONValue, at place: Range<Int>, in body: [UInt8]) {
            let places = JSONSlicer.members(ofObjectAt: place.lowerBound, in: body.span)
            members = zip(object.members, places).map { ($0.key, $0.value, $1) }
        }

        /// The last member with that key, unless it says nothing.
        subscript(key: StaticString) -> Member? {
            guard let last = members.last(where: { $0.key.spells(key) }), !last.value.isVoid else { return nil }
            return Member(value: last.value, place: last.place.value)
        }

        struct Member {
            let value: JSONValue
            let place: Range<Int>
        }
    }

    private mutating func write(_ attributes: Object) {
        let data = attributes["data"]
        // Our event has to be an object; the reason says so and what it is.
        if let data, !data.value.isObject {
            envelope += body[data.place]
            return
        }
        let event = data.map { Object($0.value, at: $0.place, in: body) }
        envelope.append(UInt8(ascii: "{"))
        let source = install(attributes).flatMap { self.source(naming: $0, event?["source"]) }
        for (key, _, place) in event?.members ?? [] where source == nil || !key.spells("source") {
            add(body[place.key], body[place.value])
        }
        if let source { add("source", source) }
        if event?["id"] == nil, let id = attributes["id"] { add("id", identifier(id, attributes["source"])) }
        if event?["type"] == nil, let type = attributes["type"] { add("type", body[type.place]) }
        if event?["at"] == nil, let time = attributes["time"] { add("at", body[time.place]) }
        addExtensions(of: attributes)
        envelope.append(UInt8(ascii: "}"))
    }

    /// The event's own source with the install; nil if it needs none.
    private func source(naming install: UUID, _ own: Object.Member?) -> [UInt8]? {
        let name = Array("\"install_id\":\"\(install)\"}".utf8)
        guard let own else { return Array("{".utf8) + name }
        guard own.value.isObject, Object(own.value, at: own.place, in: body)["install_id"] == nil else { return nil }
        let rest = body[own.place].dropLast()
        return rest + (own.value.count == 0 ? [] : Array(",".utf8)) + name
    }

    private func install(_ attributes: Object) -> UUID? {
        for name: StaticString in ["subject", "source"] {
            guard let text = attributes[name]?.value.text else { continue }
            let bytes = text.bytes
            if let install = UUID(utf8: bytes.suffix(36)),
                bytes.count == 36 || [UInt8(ascii: "/"), UInt8(ascii: ":")].contains(bytes[bytes.count - 37])
            {
                return install
            }
        }
        return nil
    }

    private mutating func identifier(_ id: Object.Member, _ source: Object.Member?) -> [UInt8] {
        // What is no text stays, and is rejected.
        guard let text = id.value.text, UUID(utf8: text.bytes) == nil, !isMended(id.place),
            source.map({ !isMended($0.place) }) ?? true
        else { return Array(body[id.place]) }
        let origin = source?.value.text?.bytes ?? []
        if namespace?.source != origin { namespace = (origin, UUID(named: origin, in: .addresses)) }
        let id = UUID(named: text.bytes, in: namespace?.id ?? .addresses)
        return Array("\"\(id)\"".utf8)
    }

    private static let attributes: [StaticString] = [
        "id", "source", "subject", "type", "time", "data", "specversion", "datacontenttype", "dataschema",
    ]

    private mutating func addExtensions(of attributes: Object) {
        var extensions: [UInt8] = []
        for (key, _, place) in attributes.members where !Self.attributes.contains(where: key.spells) {
            extensions += (extensions.isEmpty ? [] : Array(",".utf8)) + body[place.key] + Array(":".utf8)
            extensions += body[place.value]
        }
        if !extensions.isEmpty { add("cloudevents", Array("{".utf8) + extensions + Array("}".utf8)) }
    }

    private mutating func add(_ key: StaticString, _ value: some Sequence<UInt8>) {
        add("\"\(key)\"".utf8, value)
    }

    private mutating func add(_ key: some Sequence<UInt8>, _ value: some Sequence<UInt8>) {
        if envelope.last != UInt8(ascii: "{") { envelope.append(UInt8(ascii: ",")) }
        envelope.append(contentsOf: key)
        envelope.append(UInt8(ascii: ":"))
        envelope.append(contentsOf: value)
    }

    /// Whether something there was replaced, so that its text is not what was sent.
    private func isMended(_ place: Range<Int>) -> Bool {
        var (low, high) = (0, misfits.count)
        while low < high {
            let middle = (low + high) / 2
            if misfits[middle].offset < place.lowerBound { low = middle + 1 } else { high = middle }
        }
        return low < misfits.count && misfits[low].offset < place.upperBound
    }
}
