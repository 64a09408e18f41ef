internal import Console
internal import EventLog
internal import Postgres
internal import Projections
internal import Sends
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
        // First, while the deliveries that say of which campaign a message is are still there.
        var connection = try LogSession.open(url: access.url, role: nil, purpose: "retention", log: log)
        if let fault = try ClockComparison(on: &connection, clock: { WallClock.now }).fault() {
            StandardStream.error.write(
                "bellwether: nothing was dropped, because the clocks do not agree on what is old: \(fault).\n")
            return .failed
        }
        let exportRows = try FCMExportStore.retain(days: days, now: WallClock.now, on: &connection)
        var outcomes: [RetentionRun.Outcome] = []
        let remainder = try RetentionRun(ProjectionControl(url: access.url, log: log)).run(
            days: days, now: WallClock.now
        ) {
            outcome in
            outcomes.append(outcome)
            if case .text = format { StandardStream.output.write(sentence(outcome)) }
        }
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
