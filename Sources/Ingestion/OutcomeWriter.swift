internal import EventLog
internal import HTTPServer
internal import ServiceRuntime
internal import Telemetry

/// Writes what became of the parts of an envelope, in their order: only what was not accepted has a line.
struct OutcomeWriter {
    private var index = 0
    private var (accepted, duplicate, rejected) = (0, 0, 0)
    private var reasons: [String: Int] = [:]
    private var lines: [String] = []

    /// The next part, with its id where it could be read.
    mutating func add(_ verdict: Verdict, id: String?) {
        switch verdict {
        case .accepted: accepted += 1
        case .duplicate:
            duplicate += 1
            list(id, "\"duplicate\"")
        case .rejected(let rejection):
            rejected += 1
            reasons[rejection.reason.rawValue, default: 0] += 1
            let detail = String(json: rejection.detail)
            list(id, "\"rejected\",\"reason\":\"\(rejection.reason.rawValue)\",\"detail\":\(detail)")
        }
        index += 1
    }

    /// Parts by result, a rejection by its reason.
    var counts: [String: Int] { reasons.merging(["accepted": accepted, "duplicate": duplicate]) { $1 } }

    var response: Response {
        let body =
            "{\"accepted\":\(accepted),\"duplicate\":\(duplicate),\"rejected\":\(rejected),"
            + "\"results\":[\(lines.joined(separator: ","))]}\n"
        return Response(status: 200, headers: [("Content-Type", "application/json")], body: Array(body.utf8))
    }

    private mutating func list(_ id: String?, _ outcome: String) {
        lines.append("{\"index\":\(index),\"id\":\(id.map { String(json: $0) } ?? "null"),\"result\":\(outcome)}")
    }
}
