internal import ServiceRuntime
internal import Telemetry
internal import Values

/// A JSON object under construction. Members without a value are left out, as in clients.
struct ObjectText {
    private var members = ""

    /// The object so far.
    var text: String { "{\(members)}" }

    mutating func add(_ name: String, raw value: String?) {
        guard let value else { return }
        if !members.isEmpty { members += "," }
        members += "\"\(name)\":\(value)"
    }

    mutating func add(_ name: String, _ value: String?) { add(name, raw: value.map { String(json: $0) }) }

    mutating func add(_ name: String, _ value: (some BinaryInteger)?) { add(name, raw: value.map { "\($0)" }) }

    mutating func add(_ name: String, _ value: Double?) { add(name, raw: value.map { "\($0)" }) }

    mutating func add(_ name: String, _ value: Bool?) { add(name, raw: value.map { $0 ? "true" : "false" }) }

    mutating func add(_ name: String, _ value: (some WireEnum)?) { add(name, value?.wire) }
}

extension Timestamp {
    /// As a phone writes it: with milliseconds.
    var wire: String { description.dropLast(4) + "Z" }

    var milliseconds: Int64 { microseconds / 1000 }
}
