internal import Accounts
internal import Clusters
internal import Console
internal import Postgres
internal import ServiceRuntime

/// Keeps an analyst's login to some apps.
struct AppAnalystAddCommand: DatabaseCommand {
    static let words = ["app", "analyst", "add"]
    static let operands: [Operand<Self>] = [Operand("LOGIN", \.login)]
    static let summary = "Let an analyst's login read these apps and no others"
    static let options: [Option<Self>] = [
        Option("app", "SLUG", each: \.apps, .text, help: "An app that the login reads; may be repeated"),
        Option("all-apps", \.readsAll, help: "Let the login read all apps, as one that was never bound does"),
    ]

    var database = DatabaseChoice()
    private var login = ""
    private var apps: [String] = []
    private var readsAll = false

    mutating func check() throws(UsageError) {
        guard apps.isEmpty == readsAll else {
            throw UsageError("say which apps the login reads: --app SLUG, which may be repeated, or --all-apps")
        }
    }

    func run() throws -> ExitCode {
        try AnalystApps.changing(login, in: database) { connection in
            try AnalystApps.add(readsAll ? nil : apps, to: login, on: &connection)
        }
    }
}

/// Takes apps from an analyst's login.
struct AppAnalystRemoveCommand: DatabaseCommand {
    static let words = ["app", "analyst", "remove"]
    static let operands: [Operand<Self>] = [Operand("LOGIN", \.login)]
    static let summary = "Take these apps from an analyst's login, or all of them"
    static let options: [Option<Self>] = [
        Option(
            "app", "SLUG", each: \.apps, .text, help: "An app that it no longer reads (default: all); may be repeated")
    ]

    var database = DatabaseChoice()
    private var login = ""
    private var apps: [String] = []

    func run() throws -> ExitCode {
        try AnalystApps.changing(login, in: database) { connection in
            try AnalystApps.remove(apps, from: login, on: &connection)
        }
    }
}

/// Shows which apps each analyst's login reads.
struct AppAnalystListCommand: DatabaseCommand {
    static let words = ["app", "analyst", "list"]
    static let summary = "List the analysts' logins and the apps that each reads"
    static let options: [Option<Self>] = [.format(\.format)]

    var database = DatabaseChoice()
    private var format = OutputFormat.text

    func run() throws -> ExitCode {
        let all = try DatabaseAccess.withConnection(database) { connection in try AnalystApps.list(on: &connection) }
        switch format {
        case .text:
            var table = TextTable(["LOGIN", "APPS", "STATE"])
            for one in all {
                table.add([String(printable: one.login), one.words, one.canRead ? "reads" : "no such login that reads"])
            }
            StandardStream.output.write(table.text)
        case .json:
            let lines = all.map { one -> JSONObject in
                ["login": one.login, "apps": one.apps, "can_read": one.canRead]
            }
            StandardStream.output.write(lines.json + "\n")
        }
        return .done
    }
}

extension AnalystApps {
    /// For people.
    fileprivate var words: String {
        guard let apps else { return "all" }
        return apps.isEmpty ? "none" : apps.joined(separator: ", ")
    }

    /// Changes the rule in all databases of a cluster, ends the login's sessions here, and says what holds now.
    fileprivate static func changing(
        _ login: String, in database: DatabaseChoice, _ body: (inout Connection) throws -> AnalystApps
    ) throws -> ExitCode {
        let shared = try DatabaseAccess.sharing(SharedTables.accounts, database, body)
        let now = shared.result
        let name = String(printable: login)
        StandardStream.error.write("'\(name)' reads \(now.apps == nil ? "all apps" : "these apps: \(now.words)").\n")
        let unended = try DatabaseAccess.withConnection(database) { connection -> String? in
            guard try !AnalystApps.endSessions(of: login, on: &connection) else { return nil }
            return try connection.query("SELECT current_database()::text").value()
        }
        if let unended {
            StandardStream.error.write(
                "Sessions that '\(name)' has open keep what they have prepared. End them as a superuser: SELECT "
                    + "pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = \(Statement.literal(login)) "
                    + "AND datname = \(Statement.literal(unended));\n")
        }
        if !now.canRead {
            StandardStream.error.write(
                "No login of this name reads as an analyst yet. Docs/Operations.md says how to make one; the rule "
                    + "holds for it from its first session.\n")
        }
        return shared.exitCode(unended == nil || now.apps == nil ? .done : .failed)
    }
}
