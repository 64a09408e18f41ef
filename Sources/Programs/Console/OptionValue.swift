internal import ServiceRuntime

/// How the text of an option becomes a value, and what to say of a text that does not.
package struct OptionValue<Value>: Sendable {
    /// The possible texts, if they can be listed.
    let choices: [String]
    let read: @Sendable (String, OptionWords) throws(UsageError) -> Value

    private init(
        choices: [String], read: @escaping @Sendable (String, OptionWords) throws(UsageError) -> Value
    ) {
        (self.choices, self.read) = (choices, read)
    }

    /// `expected` completes "--name takes". `value` returns nil for a text that is something else.
    package init(_ expected: String, choices: [String] = [], _ value: @escaping @Sendable (String) -> Value?) {
        self.init(choices: choices) { text, option throws(UsageError) in
            guard let value = value(text) else {
                throw UsageError("--\(option.name) takes \(expected), not '\(String(printable: text))'")
            }
            return value
        }
    }

    /// One of a few words.
    package static func oneOf(_ words: [String], _ value: @escaping @Sendable (String) -> Value?) -> OptionValue {
        OptionValue("one of \(words.joined(separator: ", "))", choices: words) { words.contains($0) ? value($0) : nil }
    }

    /// This value for a property that is nil unless the option is given.
    var optional: OptionValue<Value?> {
        OptionValue<Value?>(choices: choices) { [read] text, option throws(UsageError) in try read(text, option) }
    }
}

extension OptionValue where Value == String {
    package static var text: OptionValue { OptionValue("a text") { $0 } }

    /// What other users of the machine must not see in a list of processes: for `-` it is a line of standard input.
    package static var secret: OptionValue {
        OptionValue(choices: []) { text, option throws(UsageError) in
            guard text == "-" else { return text }
            guard let line = readLine(), !line.isEmpty else {
                throw UsageError("--\(option.name) - reads the \(option.value ?? "value") from standard input")
            }
            return line
        }
    }
}

extension OptionValue where Value: FixedWidthInteger & Sendable {
    package static func number(in range: ClosedRange<Value>) -> OptionValue {
        OptionValue("a whole number from \(range.lowerBound) to \(range.upperBound)") { text in
            Value(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }
}

extension OptionValue where Value: RawRepresentable & CaseIterable & SendableMetatype, Value.RawValue == String {
    /// One of the words of a type.
    package static var word: OptionValue { oneOf(Value.allCases.map(\.rawValue)) { Value(rawValue: $0) } }
}
