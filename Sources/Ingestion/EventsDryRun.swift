internal import Accounts
internal import EventLog
internal import HTTPServer
internal import Postgres
internal import Telemetry
internal import Values

/// `POST /v1/events?dry_run=true`: says what would become of an envelope. Nothing of it is stored, kept or counted.
struct EventsDryRun: Sendable {
    let envelope: DecodedEnvelope
    let receivedAt: Timestamp
    let access: Access

    static func isAsked(by head: RequestHead) -> Bool {
        head.query?.split(separator: "&").contains("dry_run=true") == true
    }

    /// Has the request worker ask the log.
    func run(by requestWorker: RequestWorker, bytes: Int, _ answer: Answer) {
        let events = envelope.items.compactMap { item in if case .event(let event) = item { event } else { nil } }
        guard !events.isEmpty else { return answer.send(response([])) }
        let submission = Submission(app: access.app, key: access.key, receivedAt: receivedAt, events: events)
        // Strings and rows beside the body that they came from.
        requestWorker.submit(of: turn, bytes: 3 * bytes + events.count * 1024) { connection throws(PostgresError) in
            response(try DryRun.verdicts(of: submission, on: &connection))
        } answer: { response in
            answer.send(response)
        }
    }

    /// Dry runs have turns and room apart from the app's sends and categories: whoever took a write key out of an app must
    /// not hold up the app's own servers.
    private var turn: Int32 { ~access.app }

    /// With the verdicts of those events that could be read.
    private func response(_ verdicts: [Verdict]) -> Response {
        var verdicts = verdicts[...]
        var outcome = OutcomeWriter()
        for item in envelope.items {
            switch item {
            case .event(let event): outcome.add(verdicts.removeFirst(), id: event.id.description)
            case .rejected(let id, _, let rejection): outcome.add(.rejected(rejection), id: id?.description)
            }
        }
        return outcome.response
    }
}
