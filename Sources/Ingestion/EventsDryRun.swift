internal import Accounts
internal import Envelopes
internal import EventLog
internal import HTTPServer
internal import Postgres
internal import Telemetry
internal import Values

/// `POST /v1/events?dry_run=true`: answers what would become of an envelope. Stores, keeps and counts nothing.
struct EventsDryRun: Sendable {
    let envelope: DecodedEnvelope
    let access: Access

    static func isAsked(by head: RequestHead) -> Bool {
        head.query?.split(separator: "&").contains("dry_run=true") == true
    }

    /// Lets the request worker ask the log.
    func run(by requestWorker: RequestWorker, bytes: Int, _ answer: Answer) {
        let submission = Submission(app: access.app, key: access.key, envelope: envelope)
        guard !submission.indexes.isEmpty else { return answer.send(response([])) }
        // The body, and the records and rows made of it.
        requestWorker.submit(of: turn, bytes: 3 * bytes + envelope.count * 1024) { connection throws(PostgresError) in
            response(try DryRun.verdicts(of: submission, on: &connection).exceptions)
        } answer: { response in
            answer.send(response)
        }
    }

    /// Dry runs have their own turns and room, apart from the app's sends and categories: somebody who extracted a write key
    /// from an app must not hold up the app's own servers.
    private var turn: Int32 { ~access.app }

    /// The answer, with the verdicts on those events that could be read.
    private func response(_ exceptions: [(index: Int, verdict: Verdict)]) -> Response {
        let rejected = envelope.rejected.map { ($0.index, Verdict.rejected($0.rejection)) }
        return OutcomeWriter(envelope, rejected + exceptions).response
    }
}
