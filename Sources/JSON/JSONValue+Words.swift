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

    /// As a double, rounded where it has more digits.
    package var double: Double {
        switch self {
        case .signed(let number): Double(number)
        case .unsigned(let number): Double(number)
        case .double(let number): number
        }
    }
}
