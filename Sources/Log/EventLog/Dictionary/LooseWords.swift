internal import Envelopes
internal import ServiceRuntime
internal import Telemetry

extension DecodedEnvelope {
    /// What no column holds of an event, as JSON: what ingestion left over, and the words of these kinds that were not
    /// learned, each in the object where it was sent. If all of it exceeds the bound, only its size.
    func extra(of index: Int, withRaw kinds: WordKinds) -> [UInt8] {
        var raw = RawWords()
        forEachWord(of: index) { kind, word in
            if kinds.contains(kind) { raw.add(text(word), at: kind.member.path.split(separator: ".").map(String.init)) }
        }
        let rest = Array(texts[events[index].extra.range])
        let whole = raw.merged(into: rest)
        if whole.count <= Bounds.extra { return whole }
        let short = raw.merged(into: Array("{\"_dropped\":\(rest.count)}".utf8))
        return short.count <= Bounds.extra ? short : Array("{\"_dropped\":\(whole.count)}".utf8)
    }
}

/// Words to add to a JSON object, by the object that contains them; "" for the outermost.
private struct RawWords {
    private var members: [String: String] = [:]

    mutating func add(_ word: String, at path: [String]) {
        guard let name = path.last else { return }
        var member = String(json: name) + ":"
        member.appendJSON(word)
        members[path.count > 1 ? path[0] : "", default: ""] += member + ","
    }

    /// Merges them into an object as `ExtraWriter` makes it, without spaces. An empty array is an empty object.
    func merged(into object: [UInt8]) -> [UInt8] {
        var result = object.isEmpty ? Array("{}".utf8) : object
        for (name, text) in members.sorted(by: { $0.key < $1.key }) {
            if name.isEmpty {
                Self.insert(text, at: 1, of: &result)
            } else if let start = Self.start(of: name, in: result) {
                Self.insert(text, at: start, of: &result)
            } else {
                Self.insert("\"\(name)\":{\(text.dropLast())},", at: 1, of: &result)
            }
        }
        return result
    }

    /// Inserts members, each with its comma, after the opening brace of an object; without the last comma if nothing
    /// follows.
    private static func insert(_ text: String, at place: Int, of object: inout [UInt8]) {
        let isEmpty = object[place] == UInt8(ascii: "}")
        object.insert(contentsOf: isEmpty ? text.utf8.dropLast() : text.utf8[...], at: place)
    }

    /// The place after the opening brace of this member of the outermost object.
    private static func start(of name: String, in object: [UInt8]) -> Int? {
        let opening = Array("\"\(name)\":{".utf8)
        var depth = 0
        var place = 0
        while place < object.count {
            switch object[place] {
            case UInt8(ascii: "\""):
                if depth == 1, object[place...].starts(with: opening) { return place + opening.count }
                place += 1
                while place < object.count, object[place] != UInt8(ascii: "\"") {
                    place += object[place] == UInt8(ascii: "\\") ? 2 : 1
                }
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            place += 1
        }
        return nil
    }
}
