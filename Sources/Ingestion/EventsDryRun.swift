internal import Accounts
internal import Envelopes
internal import EventLog
internal import HTTPServer
internal import Postgres
internal import Telemetry
internal import Values

/// `POST /v1/events?dry_run=true`: says what would become of an envelope. Nothing of it is stored, kept or counted.
struct EventsDryRun: Sendable {
    let envelope: DecodedEnvelope
    let access: Access

    static func isAsked(by head: RequestHead) -> Bool {
        head.query?.split(separator: "&").contains("dry_run=true") == true
    }

    /// Has the request worker ask the log.
    func run(by requestWorker: RequestWorker, bytes: Int, _ answer: Answer) {
        let submission = Submission(app: access.app, key: access.key, envelope: envelope)
        guard !submission.indexes.isEmpty else { return answer.send(response([])) }
        // Records and rows beside the body that they came from.
        requestWorker.submit(of: turn, bytes: 3 * bytes + envelope.count * 1024) { connection throws(PostgresError) in
            response(try DryRun.verdicts(of: submission, on: &connection).exceptions)
        } answer: { response in
            answer.send(response)
        }
    }

    /// Dry runs have turns and room apart from the app's sends and categories: whoever took a write key out of an app must
    /// not hold up the app's own servers.
    private var turn: Int32 { ~access.app }

    /// With what is to be said of those events that could be read.
    private func response(_ exceptions: [(index: Int, verdict: Verdict)]) -> Response {
        let rejected = envelope.rejected.map { ($0.index, Verdict.rejected($0.rejection)) }
        return OutcomeWriter(envelope, rejected + exceptions).response
    }
}
