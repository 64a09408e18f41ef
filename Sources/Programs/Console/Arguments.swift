internal import Glibc

/// A command's words, sorted into operands and the texts of options, as its declaration says.
struct Arguments {
    private(set) var operands: [String] = []
    private var values: [String: [String]] = [:]

    init(_ words: [String], for command: any Command.Type) throws(UsageError) {
        let options = command.optionWords
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
            guard let option = options.first(where: { $0.name == name }) else {
                throw UsageError(
                    "\(Help.name(of: command)) has no option --\(name). See \(Help.name(of: command)) --help")
            }
            let value: String
            switch (option.value, parts.count) {
            case (nil, 1): value = ""
            case (nil, _): throw UsageError("--\(name) is a switch and takes no value")
            case (_, 2): value = String(parts[1])
            case (_, _):
                guard let next = rest.popFirst() else { throw UsageError("--\(name) needs a value: \(option.usage)") }
                value = next
            }
            if !option.isRepeatable, values[name] != nil { throw UsageError("--\(name) is given twice") }
            values[name, default: []].append(value)
        }
        for option in options where values[option.name] == nil {
            guard let variable = option.environment, let text = unsafe getenv(variable) else { continue }
            let value = unsafe String(cString: text)
            if !value.isEmpty { values[option.name] = [value] }
        }
    }

    /// What was given for an option; empty if nothing was.
    func texts(of option: String) -> [String] { values[option] ?? [] }
}
