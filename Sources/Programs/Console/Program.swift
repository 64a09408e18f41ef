internal import BellwetherVersion
internal import EmbeddedPostgres
internal import Glibc
internal import Postgres
internal import ServiceRuntime

/// What the process tells its caller.
package enum ExitCode: Int32 {
    case done = 0
    /// The command failed, or a comparison found differences.
    case failed = 1
    /// The command line is invalid.
    case usage = 64
    /// No database can be reached.
    case unavailable = 69
}

/// Runs a command from the command line, and turns its result into an exit code.
package struct Program {
    /// In the order of the help text.
    private let commands: [any Command.Type]

    package init(_ commands: [any Command.Type]) { self.commands = commands }

    /// Runs the command line of this process, and ends the process.
    package func run() -> Never {
        StandardStream.holdClosed()
        exit(run(Array(CommandLine.arguments.dropFirst())).rawValue)
    }

    /// A caller that checks the exit code must not mistake partial output for all of it.
    private func run(_ words: [String]) -> ExitCode {
        let code = dispatch(words)
        Interruption.giveWay()
        guard let reason = StandardStream.output.failure else { return code }
        StandardStream.error.write("bellwether: could not write the output: \(reason)\n")
        return code == .done ? .failed : code
    }

    private func dispatch(_ words: [String]) -> ExitCode {
        do {
            if words.first == "--version" {
                StandardStream.output.write("bellwether \(BellwetherVersion.number)\n")
                return .done
            }
            guard let (kind, rest) = find(words) else { return try explain(words) }
            guard let command = try kind.read(rest) else {
                StandardStream.output.write(Help.text(of: kind))
                return .done
            }
            return try command.run()
        } catch {
            Interruption.giveWay()
            StandardStream.error.write("bellwether: \(Self.sentence(for: error))\n")
            return Self.exitCode(for: error)
        }
    }

    /// The command whose words begin the line; the longest match wins.
    private func find(_ words: [String]) -> ((any Command.Type), [String])? {
        let match = commands.filter { words.starts(with: $0.words) }.max { $0.words.count < $1.words.count }
        return match.map { ($0, Array(words.dropFirst($0.words.count))) }
    }

    /// No command was named: print help if it was asked for, otherwise a usage error that helps.
    private func explain(_ words: [String]) throws -> ExitCode {
        let isQuestion = words.first == "help"
        let named = words.dropFirst(isQuestion ? 1 : 0).filter { !$0.hasPrefix("-") }
        if isQuestion, let (command, _) = find(named) {
            StandardStream.output.write(Help.text(of: command))
            return .done
        }
        let isAsked = isQuestion || words.contains("--help")
        let family = commands.filter { $0.words.starts(with: named) }
        // A word that is unknown may be a mistaken option.
        guard !family.isEmpty, isAsked || words.isEmpty || !named.isEmpty else {
            throw UsageError(complaint(named.isEmpty ? Array(words.prefix(1)) : named))
        }
        (isAsked ? StandardStream.output : .error).write(Help.overview(of: family))
        return isAsked ? .done : .usage
    }

    /// Says which of these words is unknown, and suggests known ones.
    private func complaint(_ words: [String]) -> String {
        let count =
            words.indices.last { count in commands.contains { $0.words.starts(with: words.prefix(count)) } } ?? 0
        let unknown = words.prefix(count + 1).joined(separator: " ")
        guard count > 0 else { return "there is no command '\(unknown)'. See bellwether --help" }
        let known = commands.filter { $0.words.starts(with: words.prefix(count)) }
        return "there is no command '\(unknown)'. These exist: "
            + known.map { $0.words.joined(separator: " ") }.joined(separator: ", ")
    }

    /// An error may quote text from outside, which the terminal must not interpret.
    private static func sentence(for error: any Error) -> String {
        "\(error)".split(separator: "\n", omittingEmptySubsequences: false).map { String(printable: String($0)) }
            .joined(separator: "\n")
    }

    private static func exitCode(for error: any Error) -> ExitCode {
        switch error {
        case is UsageError: .usage
        case is EmbeddedPostgresError: .unavailable
        case let error as any DatabaseFailure: error.ofDatabase?.isUnavailable == true ? .unavailable : .failed
        default: .failed
        }
    }
}

/// An invalid command line; the text says what would be valid.
package struct UsageError: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}

/// A command failed; the text says why.
package struct Failure: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}

/// Releases what a command holds when somebody presses Ctrl-C, then ends the process as that signal would have done.
package final class Interruption: Sendable {
    private static let isUnderway = Lock(false)
    private static let last = Lock<(say: (@Sendable () -> Void)?, hasWatcher: Bool)>((nil, false))

    /// Has this said first when somebody presses Ctrl-C, whether or not the command holds anything.
    package static func beginning(with say: @escaping @Sendable () -> Void) {
        let hasWatcher = last.withLock { last in
            last.say = say
            return last.hasWatcher
        }
        if !hasWatcher { _ = Interruption {} }
    }

    package init(_ cleanUp: @escaping @Sendable () -> Void) {
        Signals.prepare()
        Self.last.withLock { $0.hasWatcher = true }
        _ = Worker(name: "signals") {
            let name = Signals.waitForStop()
            Self.isUnderway.withLock { $0 = true }
            Signals.letTheNextOneKill()
            Self.last.withLock { $0.say }?()
            cleanUp()
            exit(name == "SIGINT" ? 130 : 143)
        }
    }

    /// For a command that has ended: errors caused by the interruption do not matter, and the exit code is that of the
    /// signal.
    static func giveWay() {
        guard isUnderway.withLock({ $0 }) else { return }
        while true { pause() }
    }
}
