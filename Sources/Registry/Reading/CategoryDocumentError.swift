internal import ServiceRuntime

/// Why a document was not taken. Nothing of it is registered.
package enum CategoryDocumentError: Error, Sendable, CustomStringConvertible {
    case tooLarge
    /// A clause with the place.
    case notJSON(String)
    case notAnObject(String)
    /// All that is wrong with it, as far as it was worth telling, and how much more there is.
    case invalid([Remark], more: Int)

    package var description: String {
        switch self {
        case .tooLarge: "the document has more than \(RegistryLimits.document) bytes"
        case .notJSON(let reason): "the document is not well-formed JSON in UTF-8: \(reason)"
        case .notAnObject(let kind): "the document must be an object, not \(kind)"
        case .invalid(let errors, let more):
            (["\(errors.count + more) \(errors.count + more == 1 ? "error" : "errors"), nothing was imported:"]
                + errors.map { "  \(String(printable: $0.description))" } + (more > 0 ? ["  and \(more) more"] : []))
                .joined(separator: "\n")
        }
    }
}
