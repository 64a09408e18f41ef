internal import Clusters
internal import Console
internal import EventLog
internal import Postgres
internal import ServiceRuntime

/// Makes a database the first cell of a cluster.
struct ClusterCreateCommand: DatabaseCommand {
    static let words = ["cluster", "create"]
    static let summary = "Make this database the first cell of a cluster; it keeps all it has"
    static let options: [Option<Self>] = [
        .name(\.name),
        Option(
            "place", "URL", \.place, .text,
            help: "Where the other machines of the cluster find it (default: the URL of the database)"),
    ]

    var database = DatabaseChoice()
    private var name: String?
    private var place: String?

    func run() throws -> ExitCode {
        try DatabaseAccess.withAccess(database) { access, connection in
            let place =
                try place.map { try Cluster.place(of: $0, ownURL: access.url) }
                ?? ConnectionString.place(of: access.url)
            let map = try Cluster.create(name: name, place: place, on: &connection)
            let cell = map.cell(map.own)?.name ?? ""
            StandardStream.error.write(
                "'\(cell)' is the first cell of a cluster and has all \(map.holders.count) shards. Others find it at: "
                    + "\(String(printable: place))\nTo add a cell: bellwether cluster add URL\n")
            return .done
        }
    }
}

/// Adds a database to a cluster.
struct ClusterAddCommand: DatabaseCommand {
    static let words = ["cluster", "add"]
    static let operands: [Operand<Self>] = [Operand("URL", \.url)]
    static let summary = "Add an empty database to the cluster as a cell; migrates it"
    static let options: [Option<Self>] = [
        .name(\.name),
        Option("hub", \.isHub, help: "Make it a hub, which takes no events: its views read all cells"),
        Option(
            "superuser", "URL", \.superuser, .text,
            help: "A superuser of the hub's database, for what only one can permit"),
    ]

    var database = DatabaseChoice()
    private var url = ""
    private var name: String?
    private var isHub = false
    private var superuser: String?

    func run() throws -> ExitCode {
        try DatabaseAccess.withCluster(database) { cluster in
            let (name, untold) = try cluster.add(name: name, url: url, isHub: isHub, superuser: superuser)
            StandardStream.error.write(
                isHub
                    ? "'\(name)' is a hub of the cluster. Its views read all cells.\n"
                    : "'\(name)' is a cell of the cluster. It has no shards yet.\n")
            return DatabaseAccess.report(untold.map { ($0.cell, $0.error as any Error) }) ? .done : .failed
        }
    }
}

/// Says where a cell is from now on.
struct ClusterSetPlaceCommand: DatabaseCommand {
    static let words = ["cluster", "set-place"]
    static let operands: [Operand<Self>] = [Operand("CELL", \.name), Operand("URL", \.url)]
    static let summary = "Tell the cluster under which URL a cell or hub is found from now on"

    var database = DatabaseChoice()
    private var name = ""
    private var url = ""

    func run() throws -> ExitCode {
        try DatabaseAccess.withCluster(database) { cluster in
            let untold = try cluster.setPlace(of: name, to: url)
            StandardStream.error.write(
                "'\(String(printable: name))' is found there from now on. "
                    + "Processes of the service follow by themselves.\n"
            )
            return DatabaseAccess.report(untold.map { ($0.cell, $0.error as any Error) }) ? .done : .failed
        }
    }
}

/// Takes a cell out of a cluster.
struct ClusterRemoveCommand: DatabaseCommand {
    static let words = ["cluster", "remove"]
    static let operands: [Operand<Self>] = [Operand("CELL", \.name)]
    static let summary = "Take a cell without shards, or a hub, out of the cluster"

    var database = DatabaseChoice()
    private var name = ""

    func run() throws -> ExitCode {
        try DatabaseAccess.withCluster(database) { cluster in
            let untold = try cluster.remove(name)
            StandardStream.error.write(
                "'\(String(printable: name))' is no part of the cluster any more. "
                    + "Its database is as it was, and takes no events.\n"
            )
            return DatabaseAccess.report(untold.map { ($0.cell, $0.error as any Error) }) ? .done : .failed
        }
    }
}

/// Shows the cells.
struct ClusterStatusCommand: DatabaseCommand {
    static let words = ["cluster", "status"]
    static let summary = "Show the cells: shards, map, events, lag; exit 1 if one does not answer or is not well"
    static let options: [Option<Self>] = [.format(\.format)]

    var database = DatabaseChoice()
    private var format = OutputFormat.text

    func run() throws -> ExitCode {
        let (cells, map) = try DatabaseAccess.withCluster(database) { cluster in
            cluster.followNewest()
            return (cluster.status(), cluster.map)
        }
        switch format {
        case .text:
            var table = TextTable(["CELL", "SHARDS", "EPOCH", "BATCH", "EVENTS", "LAG, S", "PLACE", "STATE"])
            for cell in cells {
                switch cell.answer {
                case .reached(let epoch, let log, let lag):
                    table.add([
                        cell.cell.name, shards(cell), "\(epoch)", "\(log.head)", "\(log.events)",
                        "\((lag * 10).rounded() / 10)", cell.cell.place, cell.troubles.isEmpty ? "there" : "FAIL",
                    ])
                case .away(let reason):
                    table.add([cell.cell.name, shards(cell), "", "", "", "", cell.cell.place, "away: \(reason)"])
                }
            }
            StandardStream.output.write(table.text)
            for cell in cells {
                for trouble in cell.troubles {
                    StandardStream.output.write(String(printable: "FAIL    \(cell.cell.name): \(trouble)") + "\n")
                }
            }
            for move in map.moves where map.holders[Int(move.shard)] == 0 {
                StandardStream.output.write(
                    "Nobody takes the events of shard \(move.shard) at the moment; "
                        + "if that lasts, go on with its move.\n"
                )
            }
            for move in map.moves {
                let (home, other) = (map.cell(move.home)?.name ?? "", map.cell(move.other)?.name ?? "")
                StandardStream.output.write(
                    move.isArriving
                        ? "Shard \(move.shard) is moving from \(home) to \(other): "
                            + "to go on, bellwether cluster move --shard \(move.shard) --to \(other)\n"
                        : "Shard \(move.shard) is in \(home), and \(other) has yet to forget it: "
                            + "to go on, bellwether cluster move --shard \(move.shard) --to \(home)\n"
                )
            }
        case .json: StandardStream.output.write(cells.map { object($0, map) }.json + "\n")
        }
        return cells.allSatisfy { if case .reached = $0.answer { $0.troubles.isEmpty } else { false } }
            ? .done : .failed
    }

    private func shards(_ cell: CellStatus) -> String { cell.cell.isHub ? "hub" : "\(cell.shards)" }

    private func object(_ cell: CellStatus, _ map: ClusterMap) -> JSONObject {
        var members: [(String, any JSONWritable)] = [
            ("cell", cell.cell.name), ("place", cell.cell.place), ("hub", cell.cell.isHub), ("shards", cell.shards),
            ("arriving", map.moves.filter { $0.isArriving && $0.other == cell.cell.number }.map { Int($0.shard) }),
            ("leaving", map.moves.filter { !$0.isArriving && $0.other == cell.cell.number }.map { Int($0.shard) }),
        ]
        switch cell.answer {
        case .reached(let epoch, let log, let lag):
            members += [("epoch", epoch), ("head", log.head), ("events", log.events), ("lag_seconds", lag)]
        case .away(let reason): members.append(("away", reason))
        }
        members.append(("troubles", cell.troubles))
        return JSONObject(members)
    }
}

/// Compares the cells.
struct ClusterCheckCommand: DatabaseCommand {
    static let words = ["cluster", "check"]
    static let summary =
        "Compare maps, apps, keys, categories, sends and words of all cells; mend what differs"
    static let options: [Option<Self>] = [
        .format(\.format),
        Option(
            "accept-loss", "CELL", \.acceptedLoss, .text,
            help: "Go on with this cell as it is, although it was restored from an old backup"),
    ]

    var database = DatabaseChoice()
    private var format = OutputFormat.text
    private var acceptedLoss: String?

    func run() throws -> ExitCode {
        let findings = try DatabaseAccess.withCluster(database) { try $0.check(lossIn: acceptedLoss) }
        switch format {
        case .text:
            for finding in findings {
                let line = String(printable: "\(finding.cell): \(finding.what)")
                StandardStream.output.write((finding.isMended ? "mended  " : "OPEN    ") + line + "\n")
            }
            if findings.isEmpty { StandardStream.output.write("All cells agree.\n") }
        case .json:
            let items = findings.map { finding -> JSONObject in
                ["cell": finding.cell, "what": finding.what, "mended": finding.isMended]
            }
            StandardStream.output.write(items.json + "\n")
        }
        return findings.allSatisfy(\.isMended) ? .done : .failed
    }
}

extension Option {
    fileprivate static func name(_ path: Property<Target, String?>) -> Option {
        Option("name", "NAME", path, .text, help: "Name of the cell, as people say it (default: cell-N, or hub)")
    }
}
