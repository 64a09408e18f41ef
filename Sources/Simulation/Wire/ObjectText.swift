internal import ServiceRuntime
internal import Telemetry
internal import Values

/// A JSON object that is being written. A member without a value is left away, as clients do.
struct ObjectText {
    private var members = ""

    /// The object as it stands now.
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
    /// As a phone writes it: to the millisecond.
    var wire: String { description.dropLast(4) + "Z" }

    var milliseconds: Int64 { microseconds / 1000 }
}
