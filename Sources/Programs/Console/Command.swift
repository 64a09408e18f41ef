/// One command: its name, its operands and options, and what it does. One file per command, all in the same order. What
/// its operands and options say is in its properties when it runs.
package protocol Command: Readable {
    /// Its name, as words.
    static var words: [String] { get }
    static var operands: [Operand<Self>] { get }
    static var summary: String { get }
    static var options: [Option<Self>] { get }
    /// The options that every command on a database has.
    static var databaseOptions: [Option<Self>] { get }

    /// Checks what no option can tell alone, and completes its properties by it.
    mutating func check() throws(UsageError)
    func run() throws -> ExitCode
}

extension Command {
    package static var operands: [Operand<Self>] { [] }
    package static var options: [Option<Self>] { [] }
    package static var databaseOptions: [Option<Self>] { [] }
    package mutating func check() {}

    /// What people see of its options, without and with those of the database.
    static var ownOptionWords: [OptionWords] { options.map(\.words) }
    static var optionWords: [OptionWords] {
        (options + databaseOptions).map(\.words) + [OptionWords(name: "help", help: "Show this text")]
    }
    /// Its operands as people see them.
    static var operandNames: [String] { operands.map(\.name) }
    static var operandChoices: [String] { operands.flatMap(\.choices) }

    /// Reads a command from the words after its name; nil if they ask for help.
    static func read(_ words: [String]) throws(UsageError) -> Self? {
        let arguments = try Arguments(words, for: self)
        guard arguments.texts(of: "help").isEmpty else { return nil }
        var command = Self()
        var rest = arguments.operands[...]
        guard operands.allSatisfy({ $0.take(&rest, &command) }), rest.isEmpty else {
            throw UsageError("use: \(Help.usage(of: self))")
        }
        for option in options + databaseOptions {
            try option.read(arguments.texts(of: option.words.name), into: &command)
        }
        try command.check()
        return command
    }
}

/// A command that works on a database.
package protocol DatabaseCommand: Command {
    var database: DatabaseChoice { get set }
}

extension DatabaseCommand {
    package static var databaseOptions: [Option<Self>] { DatabaseChoice.options.within(\.database) }
}

/// An operand of a command: where it goes says whether it may be missing or be several.
package struct Operand<Target>: Sendable {
    /// As people see it: in brackets if it may be missing, with an ellipsis if it may be several.
    let name: String
    /// Its possible values, if they can be listed.
    let choices: [String]
    /// Takes what is its own from the operands. False if there is nothing, and must be.
    let take: @Sendable (inout ArraySlice<String>, inout Target) -> Bool

    package init(_ name: String, _ path: Property<Target, String>) {
        (self.name, choices) = (name, [])
        take = { rest, target in
            guard let first = rest.popFirst() else { return false }
            target[keyPath: path] = first
            return true
        }
    }

    package init(_ name: String, _ path: Property<Target, String?>) {
        (self.name, choices) = ("[\(name)]", [])
        take = { rest, target in
            target[keyPath: path] = rest.popFirst()
            return true
        }
    }

    package init(
        _ name: String, _ path: Property<Target, [String]>, choices: [String] = [], isRequired: Bool = false
    ) {
        (self.name, self.choices) = (isRequired ? "\(name)…" : "[\(name)…]", choices)
        take = { rest, target in
            defer { rest = [] }
            target[keyPath: path] = Array(rest)
            return !rest.isEmpty || !isRequired
        }
    }
}
