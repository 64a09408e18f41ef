internal import Accounts
internal import Clusters
internal import Console
internal import EventLog
internal import Postgres
internal import ServiceRuntime
internal import Telemetry
internal import Values

private let appOption = Option("app", "SLUG", help: "The app; required")
private let memberNames = WordKind.allCases.map { WordKind.name($0.rawValue) }
private let memberOption = Option(
    "member", "NAME", choices: memberNames, help: "Values of this member, such as category or app_version")
private let choiceOptions = [
    Option("taught-by", "NAME", help: "Values that came with the key of this name"),
    Option("install", "ID", help: "Values that this install sent first"),
    Option("since", "TIME", help: "Values learned at or after this time (RFC 3339)"),
]
private let rebuildOption = Option(
    "no-rebuild", help: "Leave the rebuild of the funnels to a running serve, project --once or rebuild")

/// What a command on words works with: the dictionary of a database, or those of all cells of its cluster.
private struct Dictionaries {
    let slug: String
    let access: DatabaseAccess
    let log: Log
    /// Nil outside a cluster.
    let cluster: Cluster?

    /// Runs `body`, then ends the access to the database.
    static func with<Result>(
        _ slug: String, _ arguments: Arguments, _ body: (Dictionaries) throws -> Result
    ) throws -> Result {
        let log = Log.standardError(least: .warning)
        let access = try DatabaseAccess(arguments, log: log)
        defer { access.release() }
        let cluster = try access.cluster(log: log)
        cluster?.followNewest()
        return try body(Dictionaries(slug: slug, access: access, log: log, cluster: cluster))
    }

    /// Those of all cells.
    var all: ClusterWords? { cluster.map { ClusterWords(of: slug, in: $0) } }

    /// Works on that of this database alone.
    func own<Result>(_ body: (WordBook, inout Connection) throws -> Result) throws -> Result {
        var connection = try LogSession.open(
            url: access.url, role: nil, purpose: "command", log: log, statementSeconds: 600)
        return try body(WordBook(of: try Apps.named(slug, on: &connection)), &connection)
    }

    /// Recounts what was counted under other words.
    func rebuild(_ arguments: Arguments) throws -> ExitCode {
        CrashPoint.pass("words changed")
        guard !arguments.has("no-rebuild") else {
            StandardStream.error.write(
                "The views of events change at once; the funnels change with the next rebuild, which a running serve begins by itself.\n"
            )
            return .done
        }
        StandardStream.error.write("The views of events change at once. Rebuilding the funnels:\n")
        let databases = cluster.map { $0.databases.filter { !$0.isHub } } ?? [CellDatabase(alone: access.url)]
        return try RebuildRun(arguments) { _, _ in ["deliveries"] }.run(in: databases, log: log)
    }
}

extension WordBook {
    fileprivate static func slug(_ arguments: Arguments) throws -> String {
        guard let slug = arguments.text("app") else { throw UsageError("name the app: --app SLUG") }
        return slug
    }

    fileprivate static func member(_ arguments: Arguments) throws -> WordKind? {
        guard let name = arguments.text("member") else { return nil }
        guard let kind = WordKind(named: name) else {
            let names = WordKind.allCases.map { WordKind.name($0.rawValue) }.joined(separator: ", ")
            throw UsageError("--member takes one of \(names), not '\(String(printable: name))'")
        }
        return kind
    }
}

extension WordBook.Choice {
    fileprivate init(_ arguments: Arguments) throws {
        self.init()
        member = try WordBook.member(arguments)
        key = arguments.text("taught-by")
        if let text = arguments.text("install") {
            guard let id = UUID(text) else {
                throw UsageError(
                    "--install takes an id of 8-4-4-4-12 hexadecimal digits, not '\(String(printable: text))'")
            }
            install = id
        }
        if let text = arguments.text("since") {
            guard let time = Timestamp(rfc3339: text) else {
                throw UsageError("--since takes a time like 2026-11-20T09:30:00Z, not '\(String(printable: text))'")
            }
            since = time
        }
    }

    fileprivate var isEverything: Bool {
        member == nil && key == nil && install == nil && since == nil && words == nil
    }
}

/// Shows what an app's dictionary has learned.
struct WordsListCommand: Command {
    static let words = ["words", "list"]
    static let summary = "Show how many values each member of an app has, or list values, newest first"
    static let options =
        [appOption, memberOption] + choiceOptions + [
            Option("limit", "N", help: "How many values to show (default 50)"),
            Option.format,
        ]

    private let arguments: Arguments
    private let slug: String
    private let choice: WordBook.Choice
    private let limit: Int64
    private let format: OutputFormat

    init(_ arguments: Arguments) throws {
        self.arguments = arguments
        slug = try WordBook.slug(arguments)
        choice = try WordBook.Choice(arguments)
        limit = Int64(try arguments.number("limit", in: 1...10_000_000, default: 50))
        format = try arguments.choice("format", default: .text)
    }

    func run() throws -> ExitCode {
        try Dictionaries.with(slug, arguments) { dictionaries in
            // A cell shows its own words, and a hub those of all cells.
            if dictionaries.cluster?.map.isOfHub == true, let all = dictionaries.all {
                if choice.isEverything { show(try all.counts()) } else { show(try all.list(choice, most: limit)) }
                return
            }
            try dictionaries.own { book, connection in
                if choice.isEverything {
                    show(try book.counts(on: &connection))
                } else {
                    show(try book.list(choice, most: limit, on: &connection))
                }
            }
        }
        return .done
    }

    private func show(_ counts: [WordBook.Count]) {
        switch format {
        case .text:
            var table = TextTable(["MEMBER", "VALUES", "IN THE LAST HOUR", "MERGED"])
            for count in counts { table.add([count.member, "\(count.words)", "\(count.fresh)", "\(count.merged)"]) }
            StandardStream.output.write(table.text)
        case .json:
            for count in counts {
                let object: JSONObject = [
                    "member": count.member, "values": count.words, "in_the_last_hour": count.fresh,
                    "merged": count.merged,
                ]
                StandardStream.output.write(object.json + "\n")
            }
        }
    }

    private func show(_ entries: [WordBook.Entry]) {
        switch format {
        case .text:
            var table = TextTable(["MEMBER", "VALUE", "SHOWN AS", "LEARNED", "KEY"])
            for entry in entries {
                table.add([
                    entry.member, entry.word, entry.shown == entry.word ? "" : entry.shown, "\(entry.learnedAt)",
                    entry.key ?? "",
                ])
            }
            StandardStream.output.write(table.text)
        case .json:
            for entry in entries {
                let object: JSONObject = [
                    "member": entry.member, "value": entry.word, "shown_as": entry.shown,
                    "learned_at": "\(entry.learnedAt)", "key": entry.key,
                ]
                StandardStream.output.write(object.json + "\n")
            }
        }
    }
}

/// Makes some values count as another one.
struct WordsMergeCommand: Command {
    static let words = ["words", "merge"]
    static let operands = ["VALUE…"]
    static let summary =
        "Show and count values as another one, in all cells; merge a value into itself to undo"
    static let options = [
        appOption, Option("member", "NAME", choices: memberNames, help: "The member, such as category; required"),
        Option("into", "VALUE", help: "The value they count as from now on, or (other); required"),
        rebuildOption, Option("lanes", "N", help: "Steps of the rebuild at once (default 2)"),
    ]

    private let arguments: Arguments
    private let slug: String
    private let member: WordKind
    private let target: String

    init(_ arguments: Arguments) throws {
        self.arguments = arguments
        slug = try WordBook.slug(arguments)
        guard let member = try WordBook.member(arguments), let target = arguments.text("into") else {
            throw UsageError("name the member and the value to merge into: --member NAME --into VALUE")
        }
        (self.member, self.target) = (member, target)
    }

    func run() throws -> ExitCode {
        try Dictionaries.with(slug, arguments) { dictionaries in
            if let all = dictionaries.all {
                try all.merge(arguments.operands, into: target, of: member)
            } else {
                try dictionaries.own { book, connection in
                    try connection.execute(script: "BEGIN ISOLATION LEVEL READ COMMITTED")
                    try book.merge(arguments.operands, into: target, of: member, on: &connection)
                    try connection.execute(script: "COMMIT")
                }
            }
            return try dictionaries.rebuild(arguments)
        }
    }
}

/// Forgets values.
struct WordsPruneCommand: Command {
    static let words = ["words", "prune"]
    static let operands = ["[VALUE…]"]
    static let summary = "Forget values in all cells: their events show (other), and the dictionary has room again"
    static let options =
        [appOption, memberOption] + choiceOptions + [
            Option("dry-run", help: "Print how many values match, and change nothing"), rebuildOption,
            Option("lanes", "N", help: "Steps of the rebuild at once (default 2)"),
        ]

    private let arguments: Arguments
    private let slug: String
    private let choice: WordBook.Choice

    init(_ arguments: Arguments) throws {
        self.arguments = arguments
        slug = try WordBook.slug(arguments)
        var choice = try WordBook.Choice(arguments)
        if !arguments.operands.isEmpty {
            guard choice.member != nil else { throw UsageError("name the member of these values: --member NAME") }
            choice.words = arguments.operands
        }
        guard choice.words != nil || choice.key != nil || choice.install != nil || choice.since != nil else {
            throw UsageError("choose the values: name them, or give --taught-by, --install or --since")
        }
        self.choice = choice
    }

    func run() throws -> ExitCode {
        try Dictionaries.with(slug, arguments) { dictionaries in
            let isDry = arguments.has("dry-run")
            let pruned =
                try dictionaries.all?.prune(choice, isDry: isDry)
                ?? dictionaries.own { book, connection in
                    try book.reserve(on: &connection)
                    try connection.execute(script: "BEGIN ISOLATION LEVEL READ COMMITTED")
                    let pruned = try book.prune(choice, on: &connection)
                    try connection.execute(script: isDry ? "ROLLBACK" : "COMMIT")
                    return pruned
                }
            StandardStream.output.write("\(pruned)\n")
            return pruned == 0 || isDry ? .done : try dictionaries.rebuild(arguments)
        }
    }
}
