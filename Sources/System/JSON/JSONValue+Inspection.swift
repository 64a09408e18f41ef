extension JSONValue {
    /// Whether containers are nested deeper than `limit`, counting this value as the first level.
    package func nestsDeeper(than limit: Int) -> Bool {
        // Each level takes two words: one to open, one to close.
        guard end - position > 2 * limit else { return false }
        var depth = 0
        var place = self
        while place.position < end {
            switch place.tag {
            case Tag.object, Tag.array:
                depth += 1
                if depth > limit { return true }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
            default:
                break
            }
            place = place.nextInside
        }
        return false
    }

    /// Whether any string or key in this value contains U+0000, which PostgreSQL cannot store.
    package var holdsNUL: Bool {
        var place = self
        while place.position < end {
            if let text = place.text, text.holdsNUL { return true }
            place = place.nextInside
        }
        return false
    }

    /// The next value, key or closing bracket, inside containers and after them.
    private var nextInside: JSONValue {
        switch tag {
        case Tag.signed, Tag.unsigned, Tag.double: value(at: position + 2)
        default: value(at: position + 1)
        }
    }
}

extension JSONValue {
    /// The members of an object in order, including repeated keys; empty for another value.
    package var members: Members { Members(of: self) }

    /// The elements of an array; empty for another value.
    package var elements: Elements { Elements(of: self) }

    /// Walks an object.
    package struct Members: Sequence, IteratorProtocol {
        private var place: JSONValue
        private let end: Int

        init(of object: JSONValue) {
            place = object.value(at: object.position + 1)
            end = object.isObject ? object.end - 1 : object.position + 1
        }

        package mutating func next() -> JSONMember? {
            guard place.position < end else { return nil }
            let key = place.uncheckedText
            let value = place.value(at: place.position + 1)
            place = place.value(at: value.end)
            return (key, value)
        }
    }

    /// Walks an array.
    package struct Elements: Sequence, IteratorProtocol {
        private var place: JSONValue
        private let end: Int

        init(of array: JSONValue) {
            place = array.value(at: array.position + 1)
            end = array.isArray ? array.end - 1 : array.position + 1
        }

        package mutating func next() -> JSONValue? {
            guard place.position < end else { return nil }
            let value = place
            place = place.value(at: value.end)
            return value
        }
    }
}

/// A key and its value.
package typealias JSONMember = (key: JSONText, value: JSONValue)

extension JSONValue {
    /// The members of an object that `isWanted` names; only the last one of each repeated key.
    func distinctMembers(where isWanted: (JSONText) -> Bool) -> [JSONMember] {
        var wanted: [JSONMember] = []
        for member in members where isWanted(member.key) { wanted.append(member) }
        // Comparing all pairs is fastest for a few members, but lets a client who sends thousands slow us down.
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

extension JSONValue.Kind {
    /// The kind with its article, for a sentence.
    package var words: String {
        switch self {
        case .object: "an object"
        case .array: "an array"
        case .string: "a string"
        case .number: "a number"
        case .boolean: "a boolean"
        case .null: "null"
        }
    }
}

extension JSONValue.Number {
    /// The value of a number without a fraction, however it is written: 17, 17.0, 1.7e1.
    package var integer: Int64? {
        switch self {
        case .signed(let integer): integer
        case .unsigned: nil
        case .double(let double): Int64(exactly: double)
        }
    }

    /// The value as a double, rounded if it has more digits.
    package var double: Double {
        switch self {
        case .signed(let number): Double(number)
        case .unsigned(let number): Double(number)
        case .double(let number): number
        }
    }
}
