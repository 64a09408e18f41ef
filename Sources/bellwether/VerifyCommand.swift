internal import Console
internal import EventLog
internal import Postgres
internal import Projections
internal import ServiceRuntime

/// Counts the funnels anew from raw events and compares every cell.
struct VerifyCommand: Command {
    static let words = ["verify"]
    static let summary = "Recount every number from the log with independent SQL and compare; exit 1 if any differs"
    static let options = [
        Option("sample", help: "Check only one of the log's shards, chosen at random"),
        Option("lanes", "N", help: "Shards to check at once (default 2)"),
        Option.format,
    ]

    private let arguments: Arguments
    private let format: OutputFormat
    private let lanes: Int

    init(_ arguments: Arguments) throws {
        self.arguments = arguments
        format = try arguments.choice("format", default: .text)
        lanes = try arguments.number("lanes", in: 1...16, default: 2)
    }

    func run() throws -> ExitCode {
        let log = Log.standardError(least: .warning)
        let access = try DatabaseAccess(arguments, log: log)
        defer { access.release() }
        // A shard of a big log takes its time, and nobody waits behind it.
        let open = { @Sendable [url = access.url] in
            try LogSession.open(url: url, role: nil, purpose: "verify", log: log, statementSeconds: 0)
        }
        let report = try Verifier().verify(
            shards: try sample(open).map { [$0] }, lanes: lanes, opening: open, progress: Self.show)
        Self.show(nil)
        switch format {
        case .text: StandardStream.output.write(report.description)
        case .json: StandardStream.output.write(report.json)
        }
        return report.isProved ? .done : .failed
    }

    /// One shard by chance, if that is what was asked for.
    private func sample(_ open: () throws -> Connection) throws -> Int16? {
        guard arguments.has("sample") else { return nil }
        var connection = try open()
        let sample = try Verifier.shards(on: &connection).randomElement()
        if let sample { StandardStream.error.write("Checking only shard \(sample).\n") }
        return sample
    }

    /// One line that is written over, and only for somebody who looks.
    private static func show(_ step: Verifier.Step?) {
        guard StandardStream.error.isTerminal else { return }
        let line = step.map { "shard \($0.place) of \($0.count)" } ?? ""
        StandardStream.error.write("\r\u{1B}[K\(line)")
    }
}

extension VerificationReport {
    /// For programs: one object, in a line.
    fileprivate var json: String {
        let moves = moves.map { move in
            "{\"app\":\(String(json: move.app)),\"from\":\(String(json: move.from)),\"to\":\(String(json: move.to))}"
        }
        let omissions = omissions.map { omission in
            "{\"projection\":\(String(json: omission.projector)),\"reason\":\(String(json: omission.reason))}"
        }
        let shards = shards.map { "{\"shard\":\($0.shard),\"position\":\($0.position)}" }
        let gaps = gaps.map { gap in
            "{\"batch\":\(gap.batch),\"shard\":\(gap.shard),"
                + "\"expected\":\(gap.expected.map { "\($0)" } ?? "null"),\"found\":\(gap.found)}"
        }
        let tables = differing.map { "\(String(json: $0.table)):\($0.cells)" }
        return "{\"proved\":\(isProved),\"events\":\(events),\"deliveries\":\(deliveries),\"cells\":\(cells),"
            + "\"shards\":[\(shards.joined(separator: ","))],"
            + "\"differing_cells\":{\(tables.joined(separator: ","))},"
            + "\"differences\":[\(differences.map(\.json).joined(separator: ","))],"
            + "\"differing_batches\":\(gapCount),\"batches\":[\(gaps.joined(separator: ","))],"
            + "\"not_compared\":[\(omissions.joined(separator: ","))],"
            + "\"time_zone_changes\":[\(moves.joined(separator: ","))]}\n"
    }
}

extension Difference {
    fileprivate var json: String {
        let key = key.map { "\(String(json: $0.column)):\(String(json: $0.text))" }
        let values = values.map { value in
            "\(String(json: value.column)):{\"stored\":\(text(value.stored)),\"recounted\":\(text(value.recounted))}"
        }
        let deliveries = deliveries.map { delivery in
            "{\"install_id\":\"\(delivery.install)\","
                + "\"notification_key\":\(String(json: delivery.notificationKey)),"
                + "\"differs\":\(delivery.differs.map { "\($0)" } ?? "null")}"
        }
        return "{\"table\":\(String(json: table)),\"shard\":\(shard),\"key\":{\(key.joined(separator: ","))},"
            + "\"columns\":{\(values.joined(separator: ","))},\"deliveries\":[\(deliveries.joined(separator: ","))]}"
    }

    private func text(_ value: String?) -> String { value.map { String(json: $0) } ?? "null" }
}
