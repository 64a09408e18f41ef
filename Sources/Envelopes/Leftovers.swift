import JSON
import Telemetry

/// Members of a `source` on their way to `extra`, already written: the envelope's are shared by many events.
struct Leftovers {
    /// Key and text of each; none when together they are over what `extra` may hold.
    private(set) var members: [(key: [UInt8], text: [UInt8])] = []
    /// Bytes of the members that are left out for being too many.
    private(set) var unwritten = 0

    init(_ leftovers: [JSONMember]) {
        var byteCount = 0
        for (key, value) in leftovers {
            var writer = JSONWriter()
            writer.write(key: key, value)
            byteCount += writer.bytes.count + 1
            // Nobody will see what is over the bound, so it need not stay: a source may be megabytes.
            if byteCount <= Bounds.extra { members.append((key.bytes, writer.bytes)) }
        }
        if byteCount > Bounds.extra {
            members = []
            unwritten = byteCount
        }
    }

    /// These members, and those of `own` in the place of the ones that it has too.
    func overridden(by own: ObjectReader<Member>) -> Leftovers {
        var merged = Leftovers(own.leftovers)
        var overridden = Set(merged.members.map(\.key))
        for member in MemberTables.sourceCodes where own.has(member) {
            overridden.insert(Array("\(member.name)".utf8))
        }
        merged.members = members.filter { !overridden.contains($0.key) } + merged.members
        merged.unwritten += unwritten
        return merged
    }
}

extension JSONWriter {
    /// Writes a member without the free text in its value.
    mutating func write(key: JSONText, _ value: JSONValue) {
        write(key)
        write(raw: ":")
        write(value, omitting: isFreeText)
    }
}
