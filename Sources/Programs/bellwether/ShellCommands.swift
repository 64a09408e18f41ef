internal import Console
internal import ServiceRuntime

/// Prints the script that makes a shell complete command lines.
struct CompletionCommand: Command {
    static let words = ["completion"]
    static let operands: [Operand<Self>] = [Operand("SHELL", \.words, choices: Shell.allCases.map(\.rawValue))]
    static let summary = "Print the completion script of a shell: bash, zsh or fish"
    static let options: [Option<Self>] = [
        Option("words", \.completes, help: "Print what may come after the words behind --, as the scripts ask")
    ]

    private var words: [String] = []
    private var completes = false
    private var shell: Shell?

    mutating func check() throws(UsageError) {
        if completes { return }
        shell = words.count == 1 ? Shell(rawValue: words[0]) : nil
        guard shell != nil else {
            throw UsageError("use: bellwether completion \(Shell.allCases.map(\.rawValue).joined(separator: "|"))")
        }
    }

    func run() -> ExitCode {
        if let shell {
            StandardStream.output.write(shell.script)
            return .done
        }
        let completion = Completion(of: words, among: Commands.all)
        for candidate in completion.candidates {
            StandardStream.output.write("\(candidate.word)\t\(candidate.help)\n")
        }
        if completion.takesFile { StandardStream.output.write(":files\n") }
        return .done
    }
}

/// Prints the manual page, built from the commands' declarations.
struct ManCommand: Command {
    static let words = ["man"]
    static let summary = "Print the manual page: bellwether man | man -l -"

    func run() -> ExitCode {
        StandardStream.output.write(ManPage.text(of: Commands.all))
        return .done
    }
}
