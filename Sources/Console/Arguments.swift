internal import Glibc

/// A command's words, sorted into operands and options, and checked against the command's declaration.
package struct Arguments: Sendable {
    package let operands: [String]
    private var values: [String: [String]] = [:]

    init(_ words: [String], for command: any Command.Type) throws {
        let known = Dictionary(uniqueKeysWithValues: command.allOptions.map { ($0.name, $0) })
        var operands: [String] = []
        var rest = words[...]
        var onlyOperands = false
        while let word = rest.popFirst() {
            guard word.hasPrefix("--"), !onlyOperands else {
                operands.append(word)
                continue
            }
            if word == "--" {
                onlyOperands = true
                continue
            }
            let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            guard let option = known[name] else {
                throw UsageError(
                    "\(Help.name(of: command)) has no option --\(name). See \(Help.name(of: command)) --help")
            }
            let value: String
            switch (option.value, parts.count) {
            case (nil, 1): value = ""
            case (nil, _): throw UsageError("--\(name) is a switch and takes no value")
            case (_, 2): value = String(parts[1])
            case (let placeholder?, _):
                guard let next = rest.popFirst() else {
                    throw UsageError("--\(name) needs a value: --\(name) \(placeholder)")
                }
                value = next
            }
            if !option.isRepeatable, values[name] != nil { throw UsageError("--\(name) is given twice") }
            values[name, default: []].append(value)
        }
        self.operands = operands
        for option in command.allOptions where values[option.name] == nil {
            guard let variable = option.environment, let text = unsafe getenv(variable) else { continue }
            let value = unsafe String(cString: text)
            if !value.isEmpty { values[option.name] = [value] }
        }
        let required = command.operands.filter { !$0.hasPrefix("[") }.count
        // An ellipsis allows any number.
        let most = command.operands.last?.contains("…") == true ? Int.max : command.operands.count
        guard has("help") || (required...most).contains(operands.count) else {
            throw UsageError("use: \(Help.usage(of: command))")
        }
    }

    package func has(_ name: String) -> Bool { values[name] != nil }

    package func text(_ name: String) -> String? { values[name]?.last }

    package func texts(_ name: String) -> [String] { values[name] ?? [] }

    /// A whole number within a range.
    package func number(_ name: String, in range: ClosedRange<Int>, default value: Int) throws -> Int {
        guard let text = text(name) else { return value }
        guard let number = Int(text), range.contains(number) else {
            throw UsageError(
                "--\(name) takes a whole number from \(range.lowerBound) to \(range.upperBound), not '\(text)'")
        }
        return number
    }

    /// One of a few words.
    package func choice<Choice: RawRepresentable & CaseIterable>(
        _ name: String, default value: Choice
    ) throws -> Choice where Choice.RawValue == String {
        guard let text = text(name) else { return value }
        guard let choice = Choice(rawValue: text) else {
            let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError("--\(name) takes one of \(words), not '\(text)'")
        }
        return choice
    }
}
