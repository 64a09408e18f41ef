internal import Accounts
internal import Clusters
internal import Console
internal import Postgres
internal import ServiceRuntime

/// Gives an app one more key.
struct AppKeyAddCommand: DatabaseCommand {
    static let words = ["app", "key", "add"]
    static let operands: [Operand<Self>] = [Operand("SLUG", \.slug)]
    static let summary = "Add a key to an app; prints it, once"
    static let options: [Option<Self>] = [
        Option("name", "NAME", \.name, .text, help: "Name of the key (default: write, write-2, ...)"),
        Option("server", \.isServer, help: "Make a server key for your servers, not a write key for your app"),
    ]

    var database = DatabaseChoice()
    private var slug = ""
    private var name: String?
    private var isServer = false

    func run() throws -> ExitCode {
        let shared = try DatabaseAccess.sharing(SharedTables.accounts, database) { connection in
            try APIKeys.add(to: slug, kind: isServer ? .server : .write, name: name, on: &connection)
        }
        let (key, secret) = shared.result
        StandardStream.error.write(
            "Added the \(key.kind.rawValue) key '\(String(printable: key.name))' to '\(slug)'. It is shown only once:\n"
        )
        return shared.exitCode(key.show(secret, of: slug))
    }
}

extension APIKey {
    /// Prints the key, which is only possible now. Says what to do if the output fails.
    func show(_ secret: String, of slug: String) -> ExitCode {
        StandardStream.output.write(secret + "\n")
        guard StandardStream.output.failure != nil else { return .done }
        let word = String(printable: name)
        let quoted = word.wholeMatch(of: /[A-Za-z0-9_.-]+/) == nil ? "'\(word.replacing("'", with: #"'\''"#))'" : word
        StandardStream.error.write(
            "The key was created, but could not be printed, and cannot be shown again. Revoke it and add another:\n"
                + "  bellwether app key revoke \(slug) \(quoted)\n"
                + "  bellwether app key add \(slug)\(kind == .server ? " --server" : "")\n")
        return .failed
    }
}

/// Revokes a key.
struct AppKeyRevokeCommand: DatabaseCommand {
    static let words = ["app", "key", "revoke"]
    static let operands: [Operand<Self>] = [Operand("SLUG", \.slug), Operand("NAME", \.name)]
    static let summary = "Revoke a key for good, also for requests under way"

    var database = DatabaseChoice()
    private var slug = ""
    private var name = ""

    func run() throws -> ExitCode {
        let shared = try DatabaseAccess.sharing(SharedTables.accounts, database) { connection in
            try APIKeys.revoke(name: name, of: slug, on: &connection)
        }
        StandardStream.error.write("Key '\(String(printable: name))' of '\(slug)' is closed.\n")
        return shared.exitCode()
    }
}
