internal import Clusters
internal import Console
internal import EventLog
internal import ServiceRuntime

/// Gives shards to another cell.
struct ClusterMoveCommand: DatabaseCommand {
    static let words = ["cluster", "move"]
    static let summary = "Give shards with all their events to another cell, while events come in"
    static let options: [Option<Self>] = [
        Option(
            "shard", "N", each: \.shards, .number(in: 0...Int16.max), required: "name the shards",
            help: "Number of a shard, from 0; may be repeated"),
        Option(
            "to", "CELL", \.target, .text, required: "name the cell that gets them",
            help: "Name of the cell that gets them"),
        Option(
            "rate", "N", \.rate, .number(in: 1...10_000_000),
            help: "Copy at most N events a second (default: as fast as both cells can)"),
    ]

    var database = DatabaseChoice()
    private var shards: [Int16] = []
    private var target = ""
    private var rate: Int?

    func run() throws -> ExitCode {
        try DatabaseAccess.withCluster(database) { cluster in
            let shards = Set(shards)
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
