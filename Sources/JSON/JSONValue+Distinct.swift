/// A key and its value.
package typealias JSONMember = (key: JSONText, value: JSONValue)

extension JSONValue {
    /// The members of an object that `isWanted` names, of each repeated key only the last.
    func distinctMembers(where isWanted: (JSONText) -> Bool) -> [JSONMember] {
        var wanted: [JSONMember] = []
        for member in members where isWanted(member.key) { wanted.append(member) }
        // Comparing each with each is the fastest for a few and a weapon in the hands of a client who sends thousands.
        guard wanted.count > 8 else { return distinct(few: wanted) }
        var last: [[UInt8]: Int] = [:]
        for (index, member) in wanted.enumerated() { last[member.key.bytes] = index }
        return wanted.enumerated().filter { index, member in last[member.key.bytes] == index }.map(\.element)
    }

    private func distinct(few members: [JSONMember]) -> [JSONMember] {
        var distinct: [JSONMember] = []
        for (index, member) in members.enumerated() {
            let isLast = !members[(index + 1)...].contains { later in later.key == member.key }
            if isLast { distinct.append(member) }
        }
        return distinct
    }
}
