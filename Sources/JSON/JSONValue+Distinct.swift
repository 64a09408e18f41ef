extension JSONValue {
    /// The members of an object that `isWanted` names, of each repeated key only the last.
    package func distinctMembers(where isWanted: (JSONText) -> Bool) -> [(key: JSONText, value: JSONValue)] {
        var wanted: [(key: JSONText, value: JSONValue)] = []
        for member in members where isWanted(member.key) { wanted.append(member) }
        // Comparing each with each is the fastest for a few and a weapon in the hands of a client who sends thousands.
        guard wanted.count > 8 else {
            return wanted.indices.filter { index in
                !wanted[(index + 1)...].contains { later in later.key == wanted[index].key }
            }.map { wanted[$0] }
        }
        var last: [[UInt8]: Int] = [:]
        for (index, member) in wanted.enumerated() { last[member.key.bytes] = index }
        return wanted.enumerated().filter { index, member in last[member.key.bytes] == index }.map(\.element)
    }
}
