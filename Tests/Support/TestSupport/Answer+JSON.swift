internal import Foundation

/// What became of an envelope, as the service tells it.
package struct Results: Decodable, Equatable, Sendable {
    /// One event that was not accepted.
    package struct Line: Decodable, Equatable, Sendable {
        package let index: Int
        package let id: String?
        package let result: String
        package let reason: String?
        package let detail: String?
    }

    package let accepted: Int
    package let duplicate: Int
    package let rejected: Int
    package let results: [Line]
}

/// A problem document of RFC 9457.
package struct ProblemDocument: Decodable, Equatable, Sendable {
    package let type: String
    package let title: String
    package let status: Int
    package let code: String
    package let detail: String
}

extension RawClient.Answer {
    /// The results in it; anything else is an error that shows the answer.
    package var results: Results {
        get throws {
            guard status == 200 else { throw RawClient.Failure(description: "\(status): \(body)") }
            return try JSONDecoder().decode(Results.self, from: Data(body.utf8))
        }
    }

    /// The problem in it, if it is one by its media type and form, and its status is the answer's.
    package var problem: ProblemDocument? {
        guard self["content-type"] == "application/problem+json",
            let problem = try? JSONDecoder().decode(ProblemDocument.self, from: Data(body.utf8)),
            problem.status == status, problem.type == "about:blank", !problem.title.isEmpty, !problem.detail.isEmpty
        else { return nil }
        return problem
    }
}
