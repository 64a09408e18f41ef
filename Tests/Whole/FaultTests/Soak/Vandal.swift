import TestSupport

/// Somebody who posts what can never be taken, and must be told so.
enum Vandal {
    private struct Nonsense: Sendable {
        let body: [UInt8]
        var headers: [String: String] = [:]
        let status: Int

        init(_ body: String, _ headers: [String: String] = [:], status: Int) {
            (self.body, self.headers, self.status) = (Array(body.utf8), headers, status)
        }
    }

    private static let nonsense: [Nonsense] = [
        Nonsense(#"{"events":["#, status: 400), Nonsense("[]", status: 400), Nonsense("{}", status: 400),
        Nonsense("{}", ["Content-Encoding": "gzip"], status: 400),
        Nonsense("{}", ["Content-Encoding": "br"], status: 415),
        Nonsense("{}", ["Content-Type": "text/plain"], status: 415),
        Nonsense("{}", ["Authorization": "Bearer bww_nobody"], status: 401),
        Nonsense(#"{"events":[\#(Array(repeating: "{}", count: 1001).joined(separator: ","))]}"#, status: 413),
        Nonsense(String(repeating: "x", count: (1 << 20) + 1), status: 413),
        // Each of its events is refused, and the same raw one is kept once.
        Nonsense(
            Wire.envelope([
                "7", Wire.event(type: "notification.invented"), Wire.event(at: "yesterday"),
                Wire.event(id: "'; DROP TABLE"),
                Wire.event(more: #""seq":-1"#),
                Wire.event(more: #""padding":"\#(String(repeating: "x", count: 33_000))""#),
            ]), status: 200),
    ]

    /// Posts one of it.
    static func post(_ number: Int, to household: Household) throws -> Errands.ErrandResult {
        let all = Self.nonsense
        let nonsense = all[number % all.count]
        let answer = try household[number / all.count % 2].client()
            .post(nonsense.body, key: household.key, headers: nonsense.headers)
        if answer.status == 503, answer["retry-after"] != nil { return .done }
        let isRight = try answer.status == nonsense.status && (answer.status != 200 || answer.results.rejected == 6)
        return isRight ? .done : .failed("\(nonsense.status) was expected: \(answer)")
    }
}
