internal import Accounts
internal import Clusters
internal import Console
internal import ServiceRuntime

/// Makes a key that opens the pages.
struct LookKeyAddCommand: DatabaseCommand {
    static let words = ["look", "key", "add"]
    static let operands: [Operand<Self>] = [Operand("NAME", \.name)]
    static let summary = "Add a key that opens the web pages; prints it, once"
    static let options: [Option<Self>] = [
        Option("app", "SLUG", each: \.apps, .text, help: "An app that it reads (default: all apps); may be repeated")
    ]

    var database = DatabaseChoice()
    private var name = ""
    private var apps: [String] = []

    func run() throws -> ExitCode {
        let shared = try DatabaseAccess.sharing(SharedTables.accounts, database) { connection in
            try ReaderKeys.add(name: self.name, apps: apps.isEmpty ? nil : apps, on: &connection)
        }
        let (key, secret) = shared.result
        let name = String(printable: key.name)
        let what = key.apps.map { "\($0.joined(separator: ", ")) alone" } ?? "all apps"
        StandardStream.error.write("Added the reader key '\(name)'. It reads \(what), and is shown only once:\n")
        StandardStream.output.write(secret + "\n")
        guard StandardStream.output.failure != nil else { return shared.exitCode() }
        StandardStream.error.write(
            "The key was created, but could not be printed, and cannot be shown again. Revoke it (bellwether look key "
                + "revoke) and add another.\n")
        return .failed
    }
}

/// Lists the keys that open the pages.
struct LookKeyListCommand: DatabaseCommand {
    static let words = ["look", "key", "list"]
    static let summary = "List the keys that open the web pages"

    var database = DatabaseChoice()

    func run() throws -> ExitCode {
        let keys = try DatabaseAccess.withConnection(database) { connection in try ReaderKeys.list(on: &connection) }
        guard !keys.isEmpty else {
            StandardStream.error.write("There is no reader key: the pages are open to this machine only.\n")
            return .done
        }
        var table = TextTable(["KEY", "APPS", "CREATED", "LAST USED", "REVOKED"])
        for key in keys {
            table.add([
                key.name, key.apps?.joined(separator: ", ") ?? "all", "\(key.createdAt)",
                key.lastUsedAt.map { "\($0)" } ?? "never", key.revokedAt.map { "\($0)" } ?? "",
            ])
        }
        StandardStream.output.write(table.text)
        return .done
    }
}

/// Closes a key that opened the pages.
struct LookKeyRevokeCommand: DatabaseCommand {
    static let words = ["look", "key", "revoke"]
    static let operands: [Operand<Self>] = [Operand("NAME", \.name)]
    static let summary = "Revoke a key of the web pages; its sessions end within seconds"

    var database = DatabaseChoice()
    private var name = ""

    func run() throws -> ExitCode {
        let shared = try DatabaseAccess.sharing(SharedTables.accounts, database) { connection in
            try ReaderKeys.revoke(name: name, on: &connection)
        }
        StandardStream.error.write("The reader key '\(String(printable: name))' is closed.\n")
        return shared.exitCode()
    }
}
