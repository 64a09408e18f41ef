internal import JSON
internal import Telemetry

/// Reads the texts of JSON that stand within JSON: some services send custom data so.
final class JSONTexts {
    private let parser = JSONParser(maximumBytes: Bounds.unpackedBody)

    /// Lends the object that a value is, or that its text holds; nil where it is neither.
    func open<Result>(_ value: JSONValue, _ body: (JSONValue) -> Result?) -> Result? {
        if value.isObject { return body(value) }
        guard let text = value.text else { return nil }
        let bytes = text.bytes
        let result = parser.withDocument(bytes.span) { root in root.isObject ? body(root) : nil }
        guard case .success(let found) = result else { return nil }
        return found
    }
}
