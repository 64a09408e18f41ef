internal import Accounts
internal import Console
internal import Postgres
internal import Projections
internal import ServiceRuntime

/// Counts the funnels again from raw events and compares every cell.
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
        // A shard of a big log takes long, and nothing waits for it.
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

    /// A random shard, if that was asked for.
    private func sample(_ open: () throws -> Connection) throws -> Int16? {
        guard arguments.has("sample") else { return nil }
        var connection = try open()
        let sample = try Verifier.shards(on: &connection).randomElement()
        if let sample { StandardStream.error.write("Checking only shard \(sample).\n") }
        return sample
    }

    /// One line that is redrawn, only if a person watches.
    private static func show(_ step: Verifier.Step?) {
        guard StandardStream.error.isTerminal else { return }
        let line = step.map { "shard \($0.place) of \($0.count)" } ?? ""
        StandardStream.error.write("\r\u{1B}[K\(line)")
    }
}

extension VerificationReport {
    /// For programs: one object in one line.
    fileprivate var json: String {
        let object: JSONObject = [
            "proved": isProved, "events": events, "deliveries": deliveries, "cells": cells,
            "shards": shards.map { ["shard": $0.shard, "position": $0.position] as JSONObject },
            "differing_cells": JSONObject(differing.map { ($0.table, $0.cells) }),
            "differences": differences.map(\.object), "differing_batches": gapCount,
            "batches": gaps.map { gap -> JSONObject in
                ["batch": gap.batch, "shard": gap.shard, "expected": gap.expected, "found": gap.found]
            },
            "not_compared": omissions.map { ["projection": $0.projector, "reason": $0.reason] as JSONObject },
            "time_zone_changes": moves.map { ["app": $0.app, "from": $0.from, "to": $0.to] as JSONObject },
        ]
        return object.json + "\n"
    }
}

extension Difference {
    fileprivate var object: JSONObject {
        [
            "table": table, "shard": shard, "key": JSONObject(key.map { ($0.column, $0.text) }),
            "columns": JSONObject(
                values.map { ($0.column, ["stored": $0.stored, "recounted": $0.recounted] as JSONObject) }),
            "deliveries": deliveries.map { delivery -> JSONObject in
                [
                    "install_id": "\(delivery.install)", "notification_key": delivery.notificationKey,
                    "differs": delivery.differs,
                ]
            },
        ]
    }
}
