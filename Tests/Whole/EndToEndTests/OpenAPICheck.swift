import Foundation
import TestSupport

@testable import Ingestion

/// One run of the checker, `openapi/check.py`, which reads YAML and JSON Schema with what Debian has for them.
struct OpenAPICheck {
    /// 0 for no disagreement, 1 for some, 2 when nothing could be compared.
    let status: Int32
    /// The disagreements, a line each.
    let output: String

    /// What to compare.
    enum Subject: String, Sendable {
        case document, words, routes, examples, errors, agreement
    }

    private struct Input: Encodable {
        let document: String
        let facts = OpenAPIFacts()
        let server: OpenAPIService.Doors?
    }

    /// The description that the program carries.
    static let embedded = OpenAPIDocument.text

    /// Debian's packages are seen by Debian's Python alone, whichever else comes first in PATH.
    private static let python = "/usr/bin/python3"
    private static let script = (#filePath as NSString).deletingLastPathComponent + "/openapi/check.py"

    static func run(
        _ subject: Subject, _ document: String = embedded, server: OpenAPIService.Doors? = nil, options: [String] = []
    ) throws -> OpenAPICheck {
        let input = try JSONEncoder().encode(Input(document: document, server: server))
        let ended = try ChildProcess.run(
            [python, "-I", "-B"] + options + [script, subject.rawValue], input: String(decoding: input, as: UTF8.self))
        return OpenAPICheck(status: ended.status, output: ended.output + ended.messages)
    }
}
