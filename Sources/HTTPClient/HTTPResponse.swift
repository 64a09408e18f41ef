/// What a server answered.
package struct HTTPResponse: Sendable {
    package let status: Int
    /// In the order in which they came, names in lower case.
    package let headers: [(name: String, value: String)]
    package let body: [UInt8]

    /// The value of a header; of several with the name the first.
    package func header(_ name: String) -> String? { headers.first { $0.name == name.lowercased() }?.value }

    /// Seconds that the server wants to be left alone for. The date that may stand there as well is not read.
    package var retryAfter: Int? { header("Retry-After").flatMap { Int($0) }.map { max(0, $0) } }
}
