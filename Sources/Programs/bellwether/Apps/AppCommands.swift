internal import Accounts
internal import Clusters
internal import Console
internal import EventLog
internal import Postgres
internal import Projections
internal import ServiceRuntime

/// Creates an app and its first write key.
struct AppCreateCommand: DatabaseCommand {
    static let words = ["app", "create"]
    static let operands: [Operand<Self>] = [Operand("SLUG", \.slug)]
    static let summary = "Create an app; prints its write key, once"
    static let options: [Option<Self>] = [
        Option("time-zone", "TZ", \.zone, .text, help: "IANA time zone in which the app's days are counted (default)")
    ]

    var database = DatabaseChoice()
    private var slug = ""
    private var zone = "UTC"

    func run() throws -> ExitCode {
        let shared = try DatabaseAccess.sharing(SharedTables.accounts, database) { connection in
            // One transaction: an app without a key is useless, and its name would be taken.
            let (app, added) = try connection.inTransaction { connection in
                let app = try Apps.create(slug: slug, timeZone: zone, on: &connection)
                return (app, try APIKeys.add(to: app.slug, kind: .write, name: nil, on: &connection))
            }
            StandardStream.error.write(
                "Created app '\(app.slug)', whose days are counted in \(app.timeZone). "
                    + "Its write key, shown only once:\n"
            )
            return added
        }
        let (key, secret) = shared.result
        return shared.exitCode(key.show(secret, of: slug))
    }
}

/// Changes an app.
struct AppSetCommand: DatabaseCommand {
    static let words = ["app", "set"]
    static let operands: [Operand<Self>] = [Operand("SLUG", \.slug)]
    static let summary = "Change an app's time zone, its rate limit, or who may tell its goals"
    static let options: [Option<Self>] = [
        Option("time-zone", "TZ", \.zone, .text, help: "IANA time zone in which the app's days are counted"),
        Option("rate-limit", "N", \.rate, .rate, help: "Events a second that the app may send, or 'none'"),
        Option(
            "rate-burst", "N", \.burst, .burst,
            help: "Events that it may send at once after a pause (default: ten seconds' worth)"),
        Option(
            "goals", "KEYS", \.goals, .word,
            help: "Whose goals are taken: of 'any' key, or of a 'server' key alone"),
    ]

    var database = DatabaseChoice()
    private var slug = ""
    private var zone: String?
    /// Nil if it was not given, `.some(nil)` for no limit.
    private var rate: Double??
    private var burst: Double?
    private var goals: GoalSource?

    func check() throws(UsageError) {
        guard zone != nil || rate != nil || burst != nil || goals != nil else {
            throw UsageError("say what to change: --time-zone, --rate-limit or --goals")
        }
        guard burst != nil, rate ?? nil == nil else { return }
        throw UsageError(
            rate == nil
                ? "--rate-burst needs --rate-limit"
                : "--rate-burst needs a limit, so --rate-limit none does not go with it")
    }

    func run() throws -> ExitCode {
        var moved = 0
        let shared = try DatabaseAccess.sharing(database, unlessLost: SharedTables.accounts) { connection in
            if let zone { moved += try set(zone, of: slug, on: &connection) }
            if let rate {
                let rateLimit = rate.map {
                    RateLimit(eventsPerSecond: $0, burst: burst ?? min(max(1, $0 * 10), RateLimit.bounds.upperBound))
                }
                try Apps.set(rateLimit: rateLimit, of: slug, on: &connection)
                let limit = rateLimit.map { "\($0.eventsPerSecond) events a second, \($0.burst) at once" }
                StandardStream.error.write("'\(slug)' may send \(limit ?? "without a limit").\n")
            }
            if let goals {
                try Apps.set(goals: goals, of: slug, on: &connection)
                StandardStream.error.write("Goals of '\(slug)' are taken with \(goals.words).\n")
            }
        } spread: { cluster in
            var failures = cluster.shareWithAll(SharedTables.accounts)
            guard zone != nil else { return failures }
            for cell in cluster.others where !cell.isHub && !failures.contains(where: { $0.cell == cell }) {
                do { moved += try cluster.working(on: cell) { try move(slug, on: &$0) } } catch {
                    failures.append((cell, error))
                }
            }
            return failures
        }
        if zone != nil {
            StandardStream.error.write(
                "Deliveries moved to another day: \(moved), plus those that a running service moved. "
                    + "What retain has sealed keeps its days.\n")
        }
        return shared.exitCode()
    }

    /// Changes the zone, and recounts by the new days. Returns how many deliveries moved. If this is interrupted, a
    /// running service does the rest.
    private func set(_ zone: String, of slug: String, on connection: inout Connection) throws -> Int {
        try connection.inTransaction { connection in
            try ZoneChange.remember(slug, on: &connection)
            try Apps.set(timeZone: zone, of: slug, on: &connection)
        }
        CrashPoint.pass("zone changed")
        StandardStream.error.write("The days of '\(slug)' are now counted in \(zone). Moving its deliveries:\n")
        return try move(slug, on: &connection)
    }

    private func move(_ slug: String, on connection: inout Connection) throws -> Int {
        try ZoneChange.pending(.recorded, on: &connection).filter { $0.slug == slug }.reduce(0) {
            try $0 + $1.make(on: &connection)
        }
    }
}

extension RateLimit {
    fileprivate static func number(_ text: String) -> Double? {
        Double(text).flatMap { bounds.contains($0) ? $0 : nil }
    }
}

extension OptionValue where Value == Double? {
    fileprivate static var rate: OptionValue {
        OptionValue("a number from 0.000001 to 1000000000 or 'none'") { text in
            text == "none" ? .some(nil) : RateLimit.number(text).map(Double?.some)
        }
    }
}

extension OptionValue where Value == Double {
    fileprivate static var burst: OptionValue {
        OptionValue("a number from 0.000001 to 1000000000") { RateLimit.number($0) }
    }
}

/// Shows the apps and their keys.
struct AppListCommand: DatabaseCommand {
    static let words = ["app", "list"]
    static let summary = "List the apps and their keys"
    static let options: [Option<Self>] = [.format(\.format)]

    var database = DatabaseChoice()
    private var format = OutputFormat.text

    func run() throws -> ExitCode {
        let apps = try DatabaseAccess.withConnection(database) { connection in
            var apps: [(App, [APIKey])] = []
            for app in try Apps.list(on: &connection) {
                apps.append((app, try APIKeys.list(of: app.slug, on: &connection)))
            }
            return apps
        }
        switch format {
        case .text:
            var table = TextTable(["APP", "TIME ZONE", "RATE LIMIT", "GOALS", "KEY", "KIND", "MADE", "REVOKED"])
            for (app, keys) in apps {
                let limit = app.rateLimit?.words ?? "none"
                for key in keys {
                    table.add([
                        app.slug, app.timeZone, limit, app.goals.rawValue, key.name, key.kind.rawValue,
                        "\(key.createdAt)",
                        key.revokedAt.map { "\($0)" } ?? "",
                    ])
                }
            }
            StandardStream.output.write(table.text)
        case .json:
            let lines = apps.map { app, keys -> JSONObject in
                [
                    "app": app.slug, "time_zone": app.timeZone, "rate_limit": app.rateLimit?.eventsPerSecond,
                    "rate_burst": app.rateLimit?.burst, "goals": app.goals.rawValue,
                    "keys": keys.map { key -> JSONObject in
                        [
                            "name": key.name, "kind": key.kind.rawValue, "created_at": "\(key.createdAt)",
                            "revoked_at": key.revokedAt.map { "\($0)" },
                        ]
                    },
                ]
            }
            StandardStream.output.write(lines.json + "\n")
        }
        return .done
    }
}

extension GoalSource {
    /// To continue "Goals are taken with".
    fileprivate var words: String {
        switch self {
        case .any: "any key of the app"
        case .server: "a server key alone"
        }
    }
}

extension RateLimit {
    /// For a table.
    fileprivate var words: String {
        let whole = "\(burst)".hasSuffix(".0") ? "\(burst)".dropLast(2) : "\(burst)"[...]
        return "\(eventsPerSecond)/s, burst \(whole)"
    }
}
