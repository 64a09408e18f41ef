internal import JSON
package import Telemetry

/// A member of an event that goes into `extra` because no column can hold it, and what was probably meant. It is only
/// said to developers: it changes nothing about what is stored.
package struct UnreadMember: Hashable, Sendable {
    /// Within the event, such as `notification.origin`.
    package let path: String
    /// Without a full stop.
    package let advice: String

    /// At most so many are told of an event.
    package static let most = 20

    /// The unread members of an event of this type, by its `extra`, in its order.
    package static func all(in extra: String, of type: EventType) -> [UnreadMember] {
        let bytes = Array(extra.utf8)
        let found = JSONParser(maximumBytes: Bounds.extra).withDocument(bytes.span) { root in
            var reader = Reader(type: type)
            reader.read(root, .event, "")
            return reader.found
        }
        guard case .success(let found) = found else { return [] }
        return Array(found.prefix(most))
    }
}

extension UnreadMember {
    private struct Reader {
        let type: EventType
        var found: [UnreadMember] = []

        mutating func read(_ object: JSONValue, _ place: Declaration.Object, _ prefix: String) {
            for (key, value) in object.members where found.count < UnreadMember.most {
                let name = key.string
                let path = String((prefix + name).unicodeScalars.prefix(200))
                let member = Member.allCases.first { member in
                    member.declaration.object == place && "\(member.declaration.key)" == name
                }
                if let member, case .object(let inner) = member.declaration.kind, isRead(member), value.isObject {
                    read(value, inner, path + ".")
                } else if let advice = member.map({ advice($0, value) }) ?? advice(name, place) {
                    found.append(UnreadMember(path: path, advice: advice))
                }
            }
        }

        private func isRead(_ member: Member) -> Bool {
            member.declaration.object != .event || member.declaration.types.contains(type)
        }

        /// About a declared member; nil if its value is in its column all the same.
        private func advice(_ member: Member, _ value: JSONValue) -> String? {
            guard member.declaration.types.contains(type) else {
                let types = EventType.allCases.filter(member.declaration.types.contains).map(\.name)
                return "\(type.name) has no such member; it belongs to \(types.joined(separator: ", "))"
            }
            switch member.declaration.kind {
            case .code(let words): return value.text.flatMap { advice($0.string, among: words) }
            case .codes(let words):
                let texts = value.elements.compactMap { $0.text?.string }
                return texts.lazy.compactMap { advice($0, among: words) }.first
            case .time: return "it is not a time: write RFC 3339 with an offset, or epoch milliseconds"
            default: return "this value is kept in extra"
            }
        }

        private func advice(_ word: String, among words: [String]) -> String? {
            guard !words.contains(word) else { return nil }
            let said = "\"\(String(word.unicodeScalars.prefix(64)))\" is none of \(words.joined(separator: ", "))"
            return UnreadMember.nearest(to: word, among: words).map { "\(said); did you mean \($0)?" } ?? said
        }

        /// About a member that is not declared here.
        private func advice(_ name: String, _ place: Declaration.Object) -> String? {
            if name == "_dropped" {
                return "the unknown members had more than \(Bounds.extra) bytes, so only their size is kept"
            }
            let known = Member.allCases.filter { isRead($0) && $0.declaration.types.contains(type) }
            let here = known.filter { $0.declaration.object == place }.map { "\($0.declaration.key)" }
            if let near = UnreadMember.nearest(to: name, among: here) { return "no such member; did you mean \(near)?" }
            let elsewhere = known.first { "\($0.declaration.key)" == name }
            return elsewhere.map { "no such member; did you mean \($0.path)?" }
                ?? "no such member: it is only kept in extra"
        }
    }

    /// The word that differs in case and separators only, or in at most two letters of five and more.
    static func nearest(to word: String, among words: [String]) -> String? {
        let letters = plain(word)
        guard (1...64).contains(letters.count) else { return nil }
        let distances = words.map { (word: $0, distance: distance(letters, plain($0))) }
        guard let best = distances.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= min(2, letters.count / 3) ? best.word : nil
    }

    private static func plain(_ word: String) -> [UInt8] {
        word.lowercased().utf8.filter { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }
    }

    /// How many letters must be put in, taken out or changed.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var row = Array(0...right.count)
        for (place, letter) in left.enumerated() {
            var diagonal = row[0]
            row[0] = place + 1
            for (column, other) in right.enumerated() {
                let changed = diagonal + (letter == other ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(changed, row[column] + 1, diagonal + 1)
            }
        }
        return row[right.count]
    }
}
