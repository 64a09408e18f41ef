extension JSONValue {
    /// Whether containers are nested deeper than `limit` here, this value's own level included.
    package func nestsDeeper(than limit: Int) -> Bool {
        // Each level takes two words, one to open and one to close.
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

    /// Whether any string or key in here holds U+0000, which PostgreSQL cannot.
    package var holdsNUL: Bool {
        var place = self
        while place.position < end {
            if let text = place.text, text.holdsNUL { return true }
            place = place.nextInside
        }
        return false
    }

    /// The next value, key or closing bracket, into containers and out of them.
    private var nextInside: JSONValue {
        switch tag {
        case Tag.signed, Tag.unsigned, Tag.double: value(at: position + 2)
        default: value(at: position + 1)
        }
    }
}
