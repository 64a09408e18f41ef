internal import Clusters
internal import Console
internal import EventLog
internal import ServiceRuntime

/// Gives shards to another cell.
struct ClusterMoveCommand: Command {
    static let words = ["cluster", "move"]
    static let summary = "Give shards that have no events yet to another cell"
    static let options = [
        Option("shard", "N", isRepeatable: true, help: "Number of a shard, from 0; may be repeated; required"),
        Option("to", "CELL", help: "Name of the cell that gets them; required"),
    ]

    private let arguments: Arguments
    private let shards: Set<Int16>
    private let target: String

    init(_ arguments: Arguments) throws {
        self.arguments = arguments
        guard let target = arguments.text("to") else { throw UsageError("name the cell that gets them: --to CELL") }
        self.target = target
        let words = arguments.texts("shard")
        shards = Set(
            try words.map { word in
                guard let shard = Int16(word), shard >= 0 else {
                    throw UsageError("--shard takes the number of a shard, from 0, not '\(String(printable: word))'")
                }
                return shard
            })
        guard !shards.isEmpty else { throw UsageError("name the shards: --shard N, which may be repeated") }
    }

    func run() throws -> ExitCode {
        try DatabaseAccess.withCluster(arguments) { cluster in
            let untold = try cluster.moveEmpty(shards, to: target)
            StandardStream.error.write(
                "'\(target)' has the \(shards.count == 1 ? "shard" : "shards") "
                    + shards.sorted().map { "\($0)" }.joined(separator: ", ") + ".\n")
            return DatabaseAccess.report(untold.map { ($0.cell, $0.error as any Error) }) ? .done : .failed
        }
    }
}
