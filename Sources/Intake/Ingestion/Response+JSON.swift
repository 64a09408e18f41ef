internal import HTTPServer

extension Response {
    /// An object or array, in a line.
    init(_ status: Int = 200, json: String, headers: [(String, String)] = []) {
        self.init(
            status: status, headers: [("Content-Type", "application/json")] + headers, body: Array((json + "\n").utf8))
    }
}
