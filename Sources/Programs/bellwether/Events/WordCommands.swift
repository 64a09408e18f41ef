internal import Accounts
internal import Clusters
internal import Console
internal import EventLog
internal import Postgres
internal import ServiceRuntime
internal import Telemetry
internal import Values

/// What a command on words works with: the dictionary of a database, or those of all cells of its cluster.
private struct Dictionaries {
    let slug: String
    let access: DatabaseAccess
    let log: Log
    /// Nil outside a cluster.
    let cluster: Cluster?

    /// Runs `body`, then ends the access to the database.
    static func with<Result>(
        _ slug: String, of database: DatabaseChoice, _ body: (Dictionaries) throws -> Result
    ) throws -> Result {
        let log = Log.standardError(least: .warning)
        let access = try DatabaseAccess(database, log: log)
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
    func rebuild(_ choice: RebuildChoice, of database: DatabaseChoice) throws -> ExitCode {
        CrashPoint.pass("words changed")
        guard !choice.isLeft else {
            StandardStream.error.write(
                "The views of events change at once; the funnels change with the next rebuild, "
                    + "which a running serve begins by itself.\n"
            )
            return .done
        }
        StandardStream.error.write("The views of events change at once. Rebuilding the funnels:\n")
        let databases = cluster.map { $0.databases.filter { !$0.isHub } } ?? [CellDatabase(alone: access.url)]
        return try RebuildRun(database: database, lanes: choice.lanes) { _, _ in ["deliveries"] }.run(
            in: databases, log: log)
    }
}

/// Whether a change of words rebuilds the funnels, and how.
private struct RebuildChoice: Readable {
    private(set) var isLeft = false
    private(set) var lanes = 2

    static let options: [Option<Self>] = [
        Option(
            "no-rebuild", \.isLeft,
            help: "Leave the rebuild of the funnels to a running serve, project --once or rebuild"),
        Option("lanes", "N", \.lanes, .lanes, help: "Steps of the rebuild at once (default)"),
    ]
}

extension OptionValue where Value == WordKind {
    fileprivate static var member: OptionValue {
        oneOf(WordKind.allCases.map { WordKind.name($0.rawValue) }) { WordKind(named: $0) }
    }
}

extension WordBook.Choice: Readable {
    fileprivate static let options: [Option<Self>] = [
        Option("member", "NAME", \.member, .member, help: "Values of this member, such as category or app_version"),
        Option("taught-by", "NAME", \.key, .text, help: "Values that came with the key of this name"),
        Option("install", "ID", \.install, .install, help: "Values that this install sent first"),
        Option("since", "TIME", \.since, .time, help: "Values learned at or after this time (RFC 3339)"),
    ]

    fileprivate var isEverything: Bool {
        member == nil && key == nil && install == nil && since == nil && words == nil
    }
}

/// Shows what an app's dictionary has learned.
struct WordsListCommand: DatabaseCommand {
    static let words = ["words", "list"]
    static let summary = "Show how many values each member of an app has, or list values, newest first"
    static let options = WordBook.Choice.options.within(
        \Self.choice, after: [.app(\.slug)],
        before: [
            Option("limit", "N", \.limit, .number(in: 1...10_000_000), help: "How many values to show (default)"),
            .format(\.format),
        ])

    var database = DatabaseChoice()
    private var slug = ""
    private var choice = WordBook.Choice()
    private var limit: Int64 = 50
    private var format = OutputFormat.text

    func run() throws -> ExitCode {
        try Dictionaries.with(slug, of: database) { dictionaries in
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
struct WordsMergeCommand: DatabaseCommand {
    static let words = ["words", "merge"]
    static let operands: [Operand<Self>] = [Operand("VALUE", \.values, isRequired: true)]
    static let summary =
        "Show and count values as another one, in all cells; merge a value into itself to undo"
    static let options = RebuildChoice.options.within(
        \Self.rebuild,
        after: [
            .app(\.slug),
            Option(
                "member", "NAME", \.member, .member, required: "name the member", help: "The member, such as category"),
            Option(
                "into", "VALUE", \.target, .text, required: "name the value to merge into",
                help: "The value they count as from now on, or (other)"),
        ])

    var database = DatabaseChoice()
    private var values: [String] = []
    private var slug = ""
    private var member = WordKind.category
    private var target = ""
    private var rebuild = RebuildChoice()

    func run() throws -> ExitCode {
        try Dictionaries.with(slug, of: database) { dictionaries in
            if let all = dictionaries.all {
                try all.merge(values, into: target, of: member)
            } else {
                try dictionaries.own { book, connection in
                    try connection.inTransaction { try book.merge(values, into: target, of: member, on: &$0) }
                }
            }
            return try dictionaries.rebuild(rebuild, of: database)
        }
    }
}

/// Forgets values.
struct WordsPruneCommand: DatabaseCommand {
    static let words = ["words", "prune"]
    static let operands: [Operand<Self>] = [Operand("VALUE", \.values)]
    static let summary = "Forget values in all cells: their events show (other), and the dictionary has room again"
    static let options = WordBook.Choice.options.within(
        \Self.choice, after: [.app(\.slug)],
        before: RebuildChoice.options.within(
            \Self.rebuild,
            after: [Option("dry-run", \.isDry, help: "Print how many values match, and change nothing")]))

    var database = DatabaseChoice()
    private var values: [String] = []
    private var slug = ""
    private var choice = WordBook.Choice()
    private var isDry = false
    private var rebuild = RebuildChoice()

    mutating func check() throws(UsageError) {
        if !values.isEmpty {
            guard choice.member != nil else { throw UsageError("name the member of these values: --member NAME") }
            choice.words = values
        }
        guard choice.words != nil || choice.key != nil || choice.install != nil || choice.since != nil else {
            throw UsageError("choose the values: name them, or give --taught-by, --install or --since")
        }
    }

    func run() throws -> ExitCode {
        try Dictionaries.with(slug, of: database) { dictionaries in
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
            return pruned == 0 || isDry ? .done : try dictionaries.rebuild(rebuild, of: database)
        }
    }
}
