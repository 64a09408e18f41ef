internal import Accounts
internal import Clusters
internal import Console
internal import ServiceRuntime

/// Makes a key that opens the pages.
struct LookKeyAddCommand: Command {
    static let words = ["look", "key", "add"]
    static let operands = ["NAME"]
    static let summary = "Add a key that opens the web pages; prints it, once"

    private let arguments: Arguments

    init(_ arguments: Arguments) { self.arguments = arguments }

    func run() throws -> ExitCode {
        let shared = try DatabaseAccess.sharing(SharedTables.accounts, arguments) { connection in
            try ReaderKeys.add(name: arguments.operands[0], on: &connection)
        }
        let (key, secret) = shared.result
        let name = String(printable: key.name)
        StandardStream.error.write("Added the reader key '\(name)'. It reads all apps, and is shown only once:\n")
        StandardStream.output.write(secret + "\n")
        guard StandardStream.output.failure != nil else { return shared.exitCode() }
        StandardStream.error.write(
            "The key was created, but could not be printed, and cannot be shown again. Revoke it (bellwether look key revoke) and "
                + "add another.\n")
        return .failed
    }
}

/// Lists the keys that open the pages.
struct LookKeyListCommand: Command {
    static let words = ["look", "key", "list"]
    static let summary = "List the keys that open the web pages"

    private let arguments: Arguments

    init(_ arguments: Arguments) { self.arguments = arguments }

    func run() throws -> ExitCode {
        let keys = try DatabaseAccess.withConnection(arguments) { connection in try ReaderKeys.list(on: &connection) }
        guard !keys.isEmpty else {
            StandardStream.error.write("There is no reader key: the pages are open to this machine only.\n")
            return .done
        }
        var table = TextTable(["KEY", "CREATED", "REVOKED"])
        for key in keys {
            table.add([key.name, "\(key.createdAt)", key.revokedAt.map { "\($0)" } ?? ""])
        }
        StandardStream.output.write(table.text)
        return .done
    }
}

/// Closes a key that opened the pages.
struct LookKeyRevokeCommand: Command {
    static let words = ["look", "key", "revoke"]
    static let operands = ["NAME"]
    static let summary = "Revoke a key of the web pages; its sessions end within seconds"

    private let arguments: Arguments

    init(_ arguments: Arguments) { self.arguments = arguments }

    func run() throws -> ExitCode {
        let shared = try DatabaseAccess.sharing(SharedTables.accounts, arguments) { connection in
            try ReaderKeys.revoke(name: arguments.operands[0], on: &connection)
        }
        StandardStream.error.write("The reader key '\(String(printable: arguments.operands[0]))' is closed.\n")
        return shared.exitCode()
    }
}
