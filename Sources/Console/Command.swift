/// One command: what it is called, what it takes, what it does. One file each, all in this order.
package protocol Command {
    /// The words that call it.
    static var words: [String] { get }
    /// The words that must, or may (in brackets), follow.
    static var operands: [String] { get }
    /// What an operand may be, where that can be listed.
    static var operandChoices: [String] { get }
    static var summary: String { get }
    /// Its own options; those for the database are added for commands that need one.
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
    /// What stands for its value in help; nil for a switch.
    let value: String?
    /// The environment variable that stands in for it.
    let environment: String?
    let isRepeatable: Bool
    /// What its value may be, where that can be listed.
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
