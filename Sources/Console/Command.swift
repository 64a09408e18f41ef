/// One command: its name, its operands and options, and what it does. One file per command, all in the same order.
package protocol Command {
    /// Its name, as words.
    static var words: [String] { get }
    /// The operands that must follow, or may follow if they are in brackets.
    static var operands: [String] { get }
    /// The possible values of an operand, if they can be listed.
    static var operandChoices: [String] { get }
    static var summary: String { get }
    /// Its own options. Options for the database are added if the command needs one.
    static var options: [Option] { get }
    static var needsDatabase: Bool { get }

    init(_ arguments: Arguments) throws
    func run() throws -> ExitCode
}

extension Command {
    package static var operands: [String] { [] }
    package static var operandChoices: [String] { [] }
    package static var options: [Option] { [] }
    package static var needsDatabase: Bool { true }

    package static var allOptions: [Option] {
        options + (needsDatabase ? DatabaseAccess.options : []) + [Option("help", help: "Show this text")]
    }
}

/// One option of a command.
package struct Option: Sendable {
    let name: String
    /// The placeholder for its value in help texts; nil for a switch.
    let value: String?
    /// The environment variable that can replace it.
    let environment: String?
    let isRepeatable: Bool
    /// Its possible values, if they can be listed.
    let choices: [String]
    let help: String

    package init(
        _ name: String, _ value: String? = nil, environment: String? = nil, isRepeatable: Bool = false,
        choices: [String] = [], help: String
    ) {
        self.name = name
        self.value = value
        self.environment = environment
        self.isRepeatable = isRepeatable
        self.choices = choices
        self.help = help
    }
}
