internal import Console
internal import Projections
internal import Removal
internal import ServiceRuntime

/// Drops old months.
struct RetainCommand: Command {
    static let words = ["retain"]
    static let summary = "Drop months of events older than N days; their counts stay in the funnels"
    static let options = [
        Option(
            "days", "N",
            help:
                "Keep events that occurred or were received within so many days, and none for more than twice as long; required"
        ),
        Option.format,
    ]

    private let arguments: Arguments
    private let days: Int
    private let format: OutputFormat

    init(_ arguments: Arguments) throws {
        self.arguments = arguments
        guard arguments.has("days") else { throw UsageError("say how many days to keep: --days N") }
        days = try arguments.number("days", in: 1...36_500, default: 0)
        format = try arguments.choice("format", default: .text)
    }

    func run() throws -> ExitCode {
        let log = Log.standardError(least: .warning)
        let access = try DatabaseAccess(arguments, log: log)
        defer { access.release() }
        let gone = try RemovalByAge(database: access.url, log: log).run(keeping: days) { outcome in
            if case .text = format { StandardStream.output.write(sentence(outcome)) }
        }
        let (outcomes, remainder, exportRows) = (gone.months, gone.remainder, gone.exportRows)
        switch format {
        case .text:
            if outcomes.isEmpty && remainder.isEmpty {
                StandardStream.output.write(
                    "Nothing to drop: every month has an event that occurred or was received in the last \(days) days, or ended within them.\n"
                )
            }
            if remainder.strays > 0 || remainder.sealed > 0 {
                StandardStream.output.write(
                    "Events whose clock belongs to no month, received over \(days) days ago: \(remainder.strays) dropped; deliveries sealed: \(remainder.sealed).\n"
                )
            }
            if remainder.refused > 0 {
                StandardStream.output.write(
                    "Rejected events received over \(days) days ago: \(remainder.refused) dropped; data_quality keeps their counts.\n"
                )
            }
            if exportRows > 0 {
                StandardStream.output.write(
                    "Rows of FCM's export dropped: \(exportRows); campaign_funnel keeps their counts.\n")
            }
        case .json:
            var items = outcomes.map {
                "{\"month\":\"\($0.month)\",\"sealed_deliveries\":\($0.sealed),\"dropped\":\($0.isDropped)}"
            }
            if remainder.strays > 0 || remainder.sealed > 0 {
                items.append(
                    "{\"month\":null,\"sealed_deliveries\":\(remainder.sealed),\"dropped\":true,\"events\":\(remainder.strays)}"
                )
            }
            StandardStream.output.write("[\(items.joined(separator: ","))]\n")
        }
        return outcomes.allSatisfy(\.isDropped) ? .done : .failed
    }

    private func sentence(_ outcome: RetentionRun.Outcome) -> String {
        let month = "\(outcome.month)".prefix(7)
        return outcome.isDropped
            ? "\(month): dropped; deliveries sealed: \(outcome.sealed).\n"
            : "\(month): closed; deliveries sealed: \(outcome.sealed); but somebody is reading it, so it is not dropped yet: run this again.\n"
    }
}
