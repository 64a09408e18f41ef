import Telemetry

@testable import Sends

/// The send that a text of JSON is.
func send(_ json: String) throws -> Send {
    try SendsDecoder().decode(line: Array(json.utf8)).get()
}

/// Why a text of JSON is no send: its reason and what is said of it.
func refusal(_ json: String) throws -> String {
    switch try SendsDecoder().decode(line: Array(json.utf8)) {
    case .success: return "accepted"
    case .failure(let refused): return "\(refused.rejection.reason.rawValue) \(refused.rejection.detail)"
    }
}

/// A send with this payload.
func send(payload: String) throws -> Send { try send(#"{"id":"s","payload":\#(payload)}"#) }
