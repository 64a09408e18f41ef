package import Telemetry
package import Values

/// A value of a member as JSON, and what has to become of it.
package struct Sample: Sendable, CustomStringConvertible {
    package let member: Member
    package let json: String
    package let outcome: Expectation

    package enum Expectation: Hashable, Sendable {
        case read(Value)
        /// The event is taken, without a value here; what was sent stands in `extra`.
        case kept
        /// The event is not taken.
        case refused
    }

    /// What was read, whatever its Swift type.
    package enum Value: Hashable, Sendable {
        case uuid(UUID)
        case time(Timestamp)
        case text(String)
        /// As on the wire.
        case word(String)
        case words([String])
        case boolean(Bool)
        case integer(Int64)
        case number(Double)
        /// In millionths.
        case decimal(Int64)
        case object
    }

    package var description: String { "\(member.path): \(json.count < 80 ? json : json.prefix(80) + "…")" }

    package var isRefused: Bool { outcome == .refused }

    package var isRead: Bool { if case .read = outcome { true } else { false } }
}

extension Member {
    /// Values at and beyond every border of what is declared: all words, both bounds, the longest text, and wrong
    /// types.
    package var samples: [Sample] { valid + odd + invalid }

    /// One value that is read.
    package var sample: String { valid[0].json }

    private var valid: [Sample] {
        let values: [(String, Sample.Value)] =
            switch declaration.kind {
            case .uuid:
                [text, text.uppercased()].map { ("\"\($0)\"", .uuid(UUID($0) ?? UUID(high: 0, low: 0))) }
            case .type: EventType.allCases.map { ("\"\($0.wire)\"", .word($0.wire)) }
            case .time:
                [
                    ("\"2026-11-20T09:30:10.001Z\"", .time(Timestamp(microseconds: 1_795_167_010_001_000))),
                    ("1795167010000.25", .time(Timestamp(microseconds: 1_795_167_010_000_250))),
                    ("\"2000-01-01T00:00:00Z\"", .time(Timestamp(microseconds: 946_684_800_000_000))),
                ]
            case .object: [("{}", .object)]
            case .text(let limit), .word(_, let limit):
                ["x", String(repeating: "x", count: limit), String(repeating: "é", count: limit / 2)]
                    .map { ("\"\($0)\"", .text($0)) }
            case .code(let words): words.map { ("\"\($0)\"", .word($0)) }
            case .codes(let words):
                // A set, which is read in the order of its declaration.
                ([[]] + words.map { [$0] } + [words.reversed()]).map { given in
                    (list(given), .words(words.filter(given.contains)))
                }
            case .boolean: [("true", .boolean(true)), ("false", .boolean(false))]
            case .integer(let range):
                [range.lowerBound, range.upperBound].map { ("\($0)", .integer($0)) } + [("1.0", .integer(1))]
            case .number(let range):
                [range.lowerBound, range.upperBound].flatMap { bound -> [(String, Sample.Value)] in
                    [("\(bound)", .number(bound)), ("\(Int(bound))", .number(bound))]
                } + [("0.25", .number(0.25)), ("-0.0", .number(0))]
            case .decimal(let whole):
                [
                    ("9.99", .decimal(9_990_000)), ("\"9.99\"", .decimal(9_990_000)), ("0", .decimal(0)),
                    ("2147.483648", .decimal(2_147_483_648)), ("\(whole - 1).999999", .decimal(whole * 1_000_000 - 1)),
                    ("0.0000025", .decimal(2)), ("\"0.0000035\"", .decimal(4)), ("1.25e3", .decimal(1_250_000_000)),
                ]
            case .letters(let count):
                ["A", "Z", "E"].map { String(repeating: $0, count: count) }.map { ("\"\($0)\"", .text($0)) }
            }
        return values.map { Sample(member: self, json: $0.0, outcome: .read($0.1)) }
    }

    /// Values that no column can hold, and that nobody is refused for.
    private var odd: [Sample] {
        let values: [String] =
            switch declaration.kind {
            case .code(let words): ["\"\(words[0].uppercased())\"", "\"\(String(repeating: "x", count: 600))\""]
            case .codes(let words): ["[\"\(words[0])\",\"hologram\"]"]
            // An event without a time of its own is not taken.
            case .time where !declaration.isRequired: ["\"soon\"", "0"]
            default: []
            }
        return values.map { Sample(member: self, json: $0, outcome: .kept) }
    }

    private var invalid: [Sample] {
        let values: [String] =
            switch declaration.kind {
            case .uuid: ["7", "true", "[]", "{}", "\"x\"", "\"\(text.dropLast())\""]
            case .type: ["7", "true", "[]", "{}", "\"no.such\""]
            case .time: ["true", "[]", "{}"] + (declaration.isRequired ? ["\"soon\"", "0"] : [])
            case .object: ["7", "true", "[]", "\"x\""]
            case .text(let limit), .word(_, let limit):
                ["7", "true", "[]", "{}", "\"\(String(repeating: "x", count: limit + 1))\""]
                    + ["\"\(String(repeating: "é", count: limit / 2))e\""]
            case .code(let words): ["7", "true", "{}", "[\"\(words[0])\"]"]
            case .codes(let words): ["7", "true", "{}", "\"\(words[0])\"", "[7]", "[\"x\",true]", "[[]]"]
            case .boolean: ["0", "1", "[]", "{}", "\"true\""]
            case .integer(let range):
                ["\(Double(range.lowerBound) - 1)", "0.5", "true", "[]", "{}", "\"1\"", "1e19"]
                    + [range.upperBound == .max ? "9223372036854775808" : "\(range.upperBound + 1)"]
            case .decimal(let whole):
                ["-0.01", "\(whole)", "\(whole - 1).9999995", "\"x\"", "\"1,5\"", "true", "[]", "{}"]
            case .letters(let count):
                ["7", "true", "[]", "{}"]
                    + ["x", String(repeating: "e", count: count), String(repeating: "E", count: count + 1), "€"]
                    .map { "\"\($0)\"" }
            case .number(let range):
                ["\(range.lowerBound.nextDown)", "\(range.upperBound.nextUp)", "7", "true", "[]", "{}", "\"0.5\""]
            }
        return values.map { Sample(member: self, json: $0, outcome: .refused) }
    }

    private func list(_ words: [String]) -> String {
        "[\(words.map { "\"\($0)\"" }.joined(separator: ","))]"
    }

    private var text: String { "0199f1c2-7c1e-7d0a-b1c4-3f0a6f1b2c3d" }
}
