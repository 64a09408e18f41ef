internal import Envelopes
internal import EventLog
internal import HTTPServer
internal import ServiceRuntime
internal import Telemetry

/// Writes the results of an envelope's parts, in their order. Only parts that were not accepted have a line.
struct ResultWriter: Sendable {
    private let count: Int
    private var (duplicate, rejected) = (0, 0)
    private var reasons: [RejectionReason: Int] = [:]
    private var lines = ""
    /// What no column will hold: told in a dry run, if there is any.
    var unread: [(index: Int, member: UnreadMember)] = []

    /// Starts with all of the parts accepted.
    init(count: Int) { self.count = count }

    /// Adds the result of the next part that was not accepted, with its id if that could be read.
    mutating func add(_ verdict: Verdict, at index: Int, id: String?) {
        switch verdict {
        case .accepted: break
        case .duplicate:
            duplicate += 1
            list(index, id, "\"duplicate\"")
        case .rejected(let rejection):
            rejected += 1
            reasons[rejection.reason, default: 0] += 1
            let detail = String(json: rejection.detail)
            list(index, id, "\"rejected\",\"reason\":\"\(rejection.reason.rawValue)\",\"detail\":\(detail)")
        }
    }

    /// Counts the parts by result, and rejections by reason.
    func count(in counter: Counter) {
        counter.add(count - duplicate - rejected, "accepted")
        counter.add(duplicate, "duplicate")
        for (reason, count) in reasons { counter.add(count, reason.rawValue) }
    }

    var response: Response {
        let accepted = count - duplicate - rejected
        let body =
            "{\"accepted\":\(accepted),\"duplicate\":\(duplicate),\"rejected\":\(rejected),\"results\":[\(lines)]"
            + (unread.isEmpty ? "}\n" : ",\"unread\":\(unread.map { $0.member.object(at: $0.index) }.json)}\n")
        return Response(status: 200, headers: [("Content-Type", "application/json")], body: Array(body.utf8))
    }

    private mutating func list(_ index: Int, _ id: String?, _ outcome: String) {
        if !lines.isEmpty { lines += "," }
        lines += "{\"index\":\(index),\"id\":\(id.map { String(json: $0) } ?? "null"),\"result\":\(outcome)}"
    }
}
