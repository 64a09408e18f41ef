import JSON
import Telemetry

/// Members of a `source` for `extra`, already written, since many events share the envelope's.
struct Leftovers {
    /// Key and text of each; empty if together they exceed the bound of `extra`.
    private(set) var members: [(key: [UInt8], text: [UInt8])] = []
    /// Bytes of the members that were left out.
    private(set) var unwritten = 0

    init(_ leftovers: [JSONMember]) {
        var byteCount = 0
        for (key, value) in leftovers {
            var writer = JSONWriter()
            writer.write(key: key, value)
            byteCount += writer.bytes.count + 1
            // What exceeds the bound is never shown, so it need not be kept: a source may have megabytes.
            if byteCount <= Bounds.extra { members.append((key.bytes, writer.bytes)) }
        }
        if byteCount > Bounds.extra {
            members = []
            unwritten = byteCount
        }
    }

    /// These members, overridden by those of `own`.
    func overridden(by own: ObjectReader<Member>) -> Leftovers {
        var merged = Leftovers(own.leftovers)
        var overridden = Set(merged.members.map(\.key))
        for member in MemberTables.sourceCodes + MemberTables.sourceObjects where own.has(member) {
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
