internal import Clusters
internal import Console
internal import EventLog
internal import ServiceRuntime

/// Gives shards to another cell.
struct ClusterMoveCommand: Command {
    static let words = ["cluster", "move"]
    static let summary = "Give shards with all their events to another cell, while events come in"
    static let options = [
        Option("shard", "N", isRepeatable: true, help: "Number of a shard, from 0; may be repeated; required"),
        Option("to", "CELL", help: "Name of the cell that gets them; required"),
        Option("rate", "N", help: "Copy at most N events a second (default: as fast as both cells can)"),
    ]

    private let arguments: Arguments
    private let shards: Set<Int16>
    private let target: String
    private let rate: Int?

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
        rate = arguments.has("rate") ? try arguments.number("rate", in: 1...10_000_000, default: 1) : nil
    }

    func run() throws -> ExitCode {
        try DatabaseAccess.withCluster(arguments) { cluster in
            let untold = try cluster.move(shards, to: target, rate: rate, progress: Self.show)
            Self.redraw("")
            StandardStream.error.write(
                "'\(target)' has the \(shards.count == 1 ? "shard" : "shards") "
                    + shards.sorted().map { "\($0)" }.joined(separator: ", ") + ".\n")
            return DatabaseAccess.report(untold.map { ($0.cell, $0.error as any Error) }) ? .done : .failed
        }
    }

    /// What changes often is a line that is redrawn, only if a person watches.
    private static func show(_ progress: Cluster.MoveProgress) {
        switch progress {
        case .copying(let events, let position, let head):
            redraw("\(events) events copied, up to batch \(position) of \(head)")
        case .forgetting(let events): redraw("\(events) events removed from the old cell")
        case .switched(let seconds):
            redraw("")
            let time = (seconds * 100).rounded(.up) / 100
            StandardStream.error.write("The new cell takes their events. They were refused with 503 for \(time) s.\n")
        case .proving: redraw("counting them in the new cell, and comparing it with the old one")
        case .waiting(let hub): redraw("waiting for those who read the hub '\(hub)'")
        }
    }

    private static func redraw(_ line: String) {
        guard StandardStream.error.isTerminal else { return }
        StandardStream.error.write("\r\u{1B}[K" + String(printable: line))
    }
}
