internal import HTTPServer

/// What a request's `Content-Type` says of its body. All are JSON in UTF-8.
enum MediaType: String {
    case json = "application/json"
    /// CloudEvents in the structured batch mode.
    case cloudEvents = "application/cloudevents-batch+json"

    init?(of head: RequestHead) {
        // What nearly every request says costs nothing.
        if head.header("Content-Type", is: "application/json") {
            self = .json
            return
        }
        guard let field = head.header("Content-Type") else { return nil }
        let parts = field.split(separator: ";").map { $0.trimmed.lowercased() }
        let isReadable = parts.dropFirst().allSatisfy { part in
            !part.hasPrefix("charset=") || ["charset=utf-8", "charset=\"utf-8\"", "charset=utf8"].contains(part)
        }
        guard isReadable, let name = parts.first else { return nil }
        self.init(rawValue: name)
    }
}
