internal import Console
internal import ServiceRuntime

/// Prints the script that makes a shell complete command lines.
struct CompletionCommand: Command {
    static let words = ["completion"]
    static let operands = ["[SHELL…]"]
    static let operandChoices = Shell.allCases.map(\.rawValue)
    static let summary = "Print the completion script of a shell: bash, zsh or fish"
    static let options = [
        Option("words", help: "Print what may come after the words behind --, as the scripts ask")
    ]
    static let needsDatabase = false

    private let output: String

    init(_ arguments: Arguments) throws {
        if arguments.has("words") {
            let completion = Completion(of: arguments.operands, among: Commands.all)
            output =
                completion.candidates.map { "\($0.word)\t\($0.help)\n" }.joined()
                + (completion.takesFile ? ":files\n" : "")
            return
        }
        guard arguments.operands.count == 1, let shell = Shell(rawValue: arguments.operands[0]) else {
            throw UsageError("use: bellwether completion \(Self.operandChoices.joined(separator: "|"))")
        }
        output = shell.script
    }

    func run() -> ExitCode {
        StandardStream.output.write(output)
        return .done
    }
}

/// Prints the manual page, built from the commands' declarations.
struct ManCommand: Command {
    static let words = ["man"]
    static let summary = "Print the manual page: bellwether man | man -l -"
    static let needsDatabase = false

    init(_ arguments: Arguments) {}

    func run() -> ExitCode {
        StandardStream.output.write(ManPage.text(of: Commands.all))
        return .done
    }
}
