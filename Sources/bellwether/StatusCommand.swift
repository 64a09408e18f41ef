internal import EventLog
internal import Postgres
internal import ServiceRuntime

/// Shows how the log stands.
struct StatusCommand: Command {
    static let words = ["status"]
    static let summary = "Show the log's head, partitions and sizes"
    static let options = [Option("format", "FORMAT", help: "text or json (default text)")]

    private let arguments: Arguments
    private let format: OutputFormat

    init(_ arguments: Arguments) throws {
        self.arguments = arguments
        format = try arguments.choice("format", default: .text)
    }

    func run() throws -> ExitCode {
        let status = try DatabaseAccess.withConnection(arguments) { connection in try LogStatus.read(on: &connection) }
        switch format {
        case .text: StandardStream.output.write(text(status))
        case .json: StandardStream.output.write(json(status))
        }
        return .done
    }

    private func text(_ status: LogStatus) -> String {
        var table = TextTable(["PARTITION", "EVENTS (ESTIMATE)", "SIZE"])
        for partition in status.partitions {
            table.add([partition.name, "\(partition.estimatedRows)", size(partition.bytes)])
        }
        return """
            head            batch \(status.head)
            last commit     \(status.lastCommitAt.map { "\($0)" } ?? "never")
            events stored   \(status.events)
            rejected, kept  \(status.rejected)
            apps            \(status.apps)
            database        \(size(status.databaseBytes))

            \(table.text)
            """
    }

    private func json(_ status: LogStatus) -> String {
        let partitions = status.partitions.map { partition in
            "{\"name\":\(String(json: partition.name)),\"estimated_events\":\(partition.estimatedRows),"
                + "\"bytes\":\(partition.bytes)}"
        }
        return "{\"head\":\(status.head),\"last_commit_at\":\(status.lastCommitAt.map { "\"\($0)\"" } ?? "null"),"
            + "\"events\":\(status.events),\"rejected\":\(status.rejected),\"apps\":\(status.apps),"
            + "\"database_bytes\":\(status.databaseBytes),\"partitions\":[\(partitions.joined(separator: ","))]}\n"
    }

    private func size(_ bytes: Int64) -> String {
        var value = Double(bytes)
        for unit in ["B", "KiB", "MiB", "GiB"] {
            if value < 1024 { return unit == "B" ? "\(bytes) B" : "\((value * 10).rounded() / 10) \(unit)" }
            value /= 1024
        }
        return "\((value * 10).rounded() / 10) TiB"
    }
}
