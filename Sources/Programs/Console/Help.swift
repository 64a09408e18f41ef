/// The help texts, built from the commands' declarations.
enum Help {
    static func name(of command: any Command.Type) -> String { (["bellwether"] + command.words).joined(separator: " ") }

    static func usage(of command: any Command.Type) -> String {
        ([name(of: command)] + command.operandNames + ["[options]"]).joined(separator: " ")
    }

    /// The full help of one command.
    static func text(of command: any Command.Type) -> String {
        var text = "\(command.summary)\n\nUse: \(usage(of: command))\n\nOptions:\n"
        let names = command.optionWords.map { "--\($0.name)" + ($0.value.map { " \($0)" } ?? "") }
        let width = names.map(\.count).max() ?? 0
        for (name, option) in zip(names, command.optionWords) {
            text += "  " + padded(name, width) + "  " + option.help
            if let variable = option.environment { text += " (environment: \(variable))" }
            text += "\n"
        }
        return text
    }

    static let introduction = "Event-sourced analytics of how people interact with push notifications."

    static let exitCodes = [(0, "done"), (1, "failed or differs"), (64, "usage"), (69, "no database")]

    /// The overview: one line per command.
    static func overview(of commands: [any Command.Type]) -> String {
        let names = commands.map { (["bellwether"] + $0.words + $0.operandNames).joined(separator: " ") }
        let width = names.map(\.count).max() ?? 0
        let lines = zip(names, commands).map { name, command in "  " + padded(name, width) + "  " + command.summary }
        return """
            \(introduction)

            \(lines.joined(separator: "\n"))

            Every command explains itself with --help. Without --database they use an embedded PostgreSQL
            in the data directory (--data). Exit codes: \(exitCodes.map { "\($0) \($1)" }.joined(separator: ", ")).

            """
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
