internal import Accounts
internal import Clusters
internal import Console
internal import Postgres
internal import Removal
internal import ServiceRuntime
internal import Values

/// Prints all that is held about one install.
struct AccessCommand: DatabaseCommand {
    static let words = ["access"]
    static let summary = "Print everything that is held about an install, in all cells: what erase would remove"
    static let options: [Option<Self>] = [
        Option("app", "SLUG", \.app, .text, required: "say which app the install belongs to", help: "The app"),
        Option(
            "install", "ID", \.install, .install, required: "name the install: --install ID",
            help: "The install's id, 8-4-4-4-12 hexadecimal digits"),
        Option(
            "format", "FORMAT", \.format, .word,
            help: "json, one object with a list for each kind, or ndjson, an object a line with its kind (default)"),
    ]

    /// How the list is printed.
    enum Format: String, CaseIterable {
        case json, ndjson
    }

    var database = DatabaseChoice()
    private var app = ""
    private var install = UUID(high: 0, low: 0)
    private var format = Format.json

    func run() throws -> ExitCode {
        let log = Log.standardError(least: .warning)
        let access = try DatabaseAccess(database, log: log)
        defer { access.release() }
        let databases = try access.wholeCluster(log: log)
        // An unknown name is said once, without a cell's name before it.
        var connection = try LogSession.open(url: access.url, role: nil, purpose: "command", log: log)
        _ = try Apps.named(app, on: &connection)
        let held = try InstallAccess(databases, install: install, ofApp: app, log: log)
        let counts = try format == .json ? printObject(held, app, install) : printLines(held)
        guard !StandardStream.output.isDeserted, StandardStream.output.failure == nil else {
            throw Failure("nobody took all of it: what was printed is not complete")
        }
        let found = counts.filter { $0.count > 0 }.map { "\($0.count) \($0.kind)" }
        StandardStream.error.write(
            found.isEmpty ? "Nothing is held about it.\n" : "Held about it: \(found.joined(separator: ", ")).\n")
        for remark in try held.remarks() { StandardStream.error.write(remark + "\n") }
        return .done
    }

    private typealias Counts = [(kind: String, count: Int)]

    private func printLines(_ held: InstallAccess) throws -> Counts {
        try InstallHolding.all.map { holding in
            var count = 0
            try held.read(holding) { cell, rows in
                count += rows.count
                let beginning = "{\"kind\":\"\(holding.kind)\"" + Self.member(cell)
                StandardStream.output.write(rows.map { "\(beginning),\($0.dropFirst())\n" }.joined())
            }
            return (holding.kind, count)
        }
    }

    private func printObject(_ held: InstallAccess, _ app: String, _ install: UUID) throws -> Counts {
        let object: JSONObject = ["app": app, "install_id": "\(install)"]
        StandardStream.output.write("\(object.json.dropLast())")
        let counts: Counts = try InstallHolding.all.map { holding in
            StandardStream.output.write(",\n\"\(holding.kind)\":[")
            var count = 0
            try held.read(holding) { cell, rows in
                let texts = rows.map { row in
                    cell == nil ? row : "{\(Self.member(cell).dropFirst()),\(row.dropFirst())"
                }
                StandardStream.output.write((count == 0 ? "\n" : ",\n") + texts.joined(separator: ",\n"))
                count += rows.count
            }
            StandardStream.output.write("]")
            return (holding.kind, count)
        }
        StandardStream.output.write("}\n")
        return counts
    }

    /// The name of a cell as a member that follows another.
    private static func member(_ cell: String?) -> String {
        guard let cell else { return "" }
        let object: JSONObject = ["cell": cell]
        return ",\(object.json.dropFirst().dropLast())"
    }
}
