internal import BellwetherVersion

/// The manual page, in the man(7) macros.
package enum ManPage {
    package static func text(of commands: [any Command.Type]) -> String {
        var page = """
            .TH BELLWETHER 1 "" "Bellwether \(BellwetherVersion.number)" "User Commands"
            .SH NAME
            bellwether \\- analytics of how people interact with push notifications
            .SH SYNOPSIS
            .B bellwether
            .I command
            .RI [ options ]
            .SH DESCRIPTION
            \(paragraphs(Help.introduction))
            .SH COMMANDS

            """
        for command in commands {
            page += ".SS \(escaped(command.words.joined(separator: " ")))\n"
            page += ".B \(escaped(Help.name(of: command)))\n"
            for operand in command.operandNames { page += ".I \(escaped(operand))\n" }
            page += ".RI [ options ]\n.PP\n\(escaped(command.summary)).\n"
            for option in command.ownOptionWords { page += entry(option) }
        }
        page += ".SH \"DATABASE OPTIONS\"\nEach command that needs a database takes these.\n"
        for option in DatabaseChoice.options.map(\.words) { page += entry(option) }
        page += ".SH \"EXIT STATUS\"\n"
        for (code, meaning) in Help.exitCodes { page += ".TP\n.B \(code)\n\(escaped(meaning)).\n" }
        let options = commands.flatMap { $0.optionWords }
        let variables = Set(options.compactMap(\.environment)).sorted()
        page += ".SH ENVIRONMENT\n"
        for variable in variables {
            let names = Set(options.filter { $0.environment == variable }.map(\.name)).sorted()
            page += ".TP\n.B \(escaped(variable))\n"
            page += "Stands in for \(escaped(names.map { "--\($0)" }.joined(separator: ", "))).\n"
        }
        return page
    }

    private static func entry(_ option: OptionWords) -> String {
        var entry = ".TP\n.B \(escaped("--\(option.name)"))"
        if let value = option.value { entry = ".TP\n.BI \(escaped("--\(option.name)")) \" \(escaped(value))\"" }
        entry += "\n\(escaped(option.help))"
        if let variable = option.environment { entry += " (environment: \(escaped(variable)))" }
        return entry + "\n"
    }

    private static func paragraphs(_ text: String) -> String {
        text.split(separator: "\n\n").map { escaped(String($0).replacing("\n", with: " ")) }.joined(
            separator: "\n.PP\n")
    }

    /// Escapes everything that troff would interpret.
    private static func escaped(_ text: some StringProtocol) -> String {
        let text = String(text).replacing("\\", with: "\\e").replacing("-", with: "\\-").replacing("…", with: "...")
            .replacing("'", with: "\\(aq").replacing("\"", with: "\\(dq")
        return text.hasPrefix(".") ? "\\&" + text : text
    }
}
