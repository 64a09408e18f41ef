internal import Accounts
internal import Envelopes
internal import EventLog
internal import HTTPServer
internal import Postgres
internal import ServiceRuntime
internal import Telemetry
internal import Values

/// `POST /v1/events?dry_run=true`: answers what would become of an envelope. Stores, keeps and counts nothing.
struct EventsDryRun: Sendable {
    let envelope: DecodedEnvelope
    let access: Access

    static func isAsked(by head: RequestHead) -> Bool {
        head.query?.split(separator: "&").contains("dry_run=true") == true
    }

    /// Lets the request workers ask the logs that take its events, one after the other.
    func run(by table: Destinations.Table, bytes: Int, _ answer: Answer) throws(Problem) {
        guard let shares = envelope.shares(among: table) else { throw .shardMoving }
        let indexes = Dictionary(grouping: shares, by: \.destination).mapValues { shares in
            shares.flatMap(\.indexes).sorted()
        }
        ask(indexes.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }[...], table, bytes, answer, [])
    }

    private typealias Exceptions = [(index: Int, verdict: Verdict)]

    private func ask(
        _ rest: ArraySlice<(key: Int, value: [Int])>, _ table: Destinations.Table, _ bytes: Int, _ answer: Answer,
        _ exceptions: Exceptions
    ) {
        guard let (place, indexes) = rest.first else { return answer.send(response(exceptions)) }
        let submission = Submission(app: access.app, key: access.key, envelope: envelope, indexes: indexes)
        let found = Lock<Exceptions>([])
        // The body, and the records and rows made of it.
        table.all[place].requestWorker.submit(of: turn, bytes: 3 * bytes + envelope.count * 1024) {
            connection throws(PostgresError) in
            let exceptions = try DryRun.verdicts(of: submission, on: &connection).exceptions
            found.withLock { $0 = exceptions }
            return Response(status: 200)
        } answer: { response in
            guard response.status == 200 else { return answer.send(response) }
            ask(rest.dropFirst(), table, bytes, answer, exceptions + found.withLock { $0 })
        }
    }

    /// Dry runs have their own turns and room, apart from the app's sends and categories: somebody who extracted a
    /// write key from an app must not hold up the app's own servers.
    private var turn: Int32 { ~access.app }

    /// The answer, with the verdicts on those events that could be read.
    private func response(_ exceptions: [(index: Int, verdict: Verdict)]) -> Response {
        let rejected = envelope.rejected.map { ($0.index, Verdict.rejected($0.rejection)) }
        var writer = ResultWriter(envelope, rejected + exceptions)
        writer.unread = unread(among: Set(rejected.map(\.0)))
        return writer.response
    }

    /// At most so many are told of an envelope: its author mends them one by one.
    private static let mostUnread = 100

    /// What of the events no column will hold.
    private func unread(among rejected: Set<Int>) -> [(index: Int, member: UnreadMember)] {
        var unread: [(index: Int, member: UnreadMember)] = []
        for (index, event) in envelope.events.enumerated() where !event.extra.isEmpty && !rejected.contains(index) {
            guard unread.count < Self.mostUnread else { break }
            unread += UnreadMember.all(in: envelope.text(event.extra), of: event.type).map { (index, $0) }
        }
        return Array(unread.prefix(Self.mostUnread))
    }
}
