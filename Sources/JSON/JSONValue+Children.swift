extension JSONValue {
    /// The members of an object, in order and repeated keys included; nothing for another value.
    package var members: Members { Members(of: self) }

    /// The elements of an array; nothing for another value.
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
