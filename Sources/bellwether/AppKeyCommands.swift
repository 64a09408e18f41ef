internal import EventLog
internal import Postgres
internal import ServiceRuntime

/// Gives an app one more key.
struct AppKeyAddCommand: Command {
    static let words = ["app", "key", "add"]
    static let operands = ["SLUG"]
    static let summary = "Add a key to an app; prints it, once"
    static let options = [
        Option("name", "NAME", help: "What to call it (default: write, write-2, ...)"),
        Option("server", help: "A key for your servers instead of a write key for your app"),
    ]

    private let arguments: Arguments

    init(_ arguments: Arguments) { self.arguments = arguments }

    func run() throws -> ExitCode {
        let slug = arguments.operands[0]
        let (key, secret) = try DatabaseAccess.withConnection(arguments) { connection in
            try APIKeys.add(
                to: slug, kind: arguments.has("server") ? .server : .write, name: arguments.text("name"),
                on: &connection)
        }
        StandardStream.error.write(
            "Added the \(key.kind.rawValue) key '\(String(printable: key.name))' to '\(slug)'. Shown only now:\n")
        StandardStream.output.write(secret + "\n")
        return .done
    }
}

/// Closes a key.
struct AppKeyRevokeCommand: Command {
    static let words = ["app", "key", "revoke"]
    static let operands = ["SLUG", "NAME"]
    static let summary = "Close a key for good; it stops within five seconds"

    private let arguments: Arguments

    init(_ arguments: Arguments) { self.arguments = arguments }

    func run() throws -> ExitCode {
        let (slug, name) = (arguments.operands[0], arguments.operands[1])
        try DatabaseAccess.withConnection(arguments) { connection in
            try APIKeys.revoke(name: name, of: slug, on: &connection)
        }
        StandardStream.error.write("Key '\(String(printable: name))' of '\(slug)' is closed.\n")
        return .done
    }
}
