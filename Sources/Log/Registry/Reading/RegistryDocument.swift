internal import JSON
internal import ServiceRuntime
internal import Values

/// How all documents of the registry are read: strictly, with all errors in them.
enum RegistryDocument {
    /// Deeper than any valid document.
    private static let nesting = 16

    /// Reads a document. `body` records what is wrong with it; then its result does not matter.
    static func read<Document: Sendable>(
        _ bytes: [UInt8], _ body: (JSONValue, inout DocumentReader) -> Document?
    ) throws(RegistryDocumentError) -> Document {
        guard bytes.count <= RegistryLimits.document else { throw .tooLarge }
        let parser = JSONParser(maximumBytes: RegistryLimits.document)
        let whole = try parser.withDocument(bytes.span) { root throws(RegistryDocumentError) in
            guard root.isObject else { throw .notAnObject(root.kind.words) }
            var reader = DocumentReader()
            let document = body(root, &reader)
            guard reader.errors.isEmpty, let document else {
                throw .invalid(reader.errors.told, more: reader.errors.untold)
            }
            return document
        }
        switch whole {
        case .success(let document): return document
        case .failure: throw reason(of: bytes)
        }
    }

    /// Why simdjson refused it: it is not JSON, or something in it cannot be stored.
    private static func reason(of bytes: [UInt8]) -> RegistryDocumentError {
        var mended = bytes
        let misfits: [JSONMisfit]
        do throws(JSONFault) { misfits = try JSONScanner.mend(&mended, limit: nesting) } catch {
            return .notJSON(error.description)
        }
        let root = JSONSlicer.root(in: bytes.span)
        let errors = misfits.prefix(RegistryLimits.errors).map { misfit in
            let path = JSONSlicer.path(to: misfit.offset, ofValueAt: root, in: bytes.span)
            return Remark(path: String(path.drop { $0 == "." }), detail: misfit.kind.words)
        }
        return errors.isEmpty
            ? .notJSON("it could not be read") : .invalid(errors, more: misfits.count - errors.count)
    }
}

extension JSONMisfit.Kind {
    fileprivate var words: String {
        switch self {
        case .number: "every number must fit 64 bits or a double"
        case .surrogate: "a string must not contain a lone surrogate"
        case .nesting: "the document is nested too deeply"
        }
    }
}

/// Why a document was refused. Nothing of it is registered.
package enum RegistryDocumentError: Error, Sendable, CustomStringConvertible {
    case tooLarge
    /// A clause that says what and where.
    case notJSON(String)
    case notAnObject(String)
    /// The errors in it, and how many more there are that were not listed.
    case invalid([Remark], more: Int)

    package var description: String {
        switch self {
        case .tooLarge: "the document has more than \(RegistryLimits.document) bytes"
        case .notJSON(let reason): "the document is not well-formed JSON in UTF-8: \(reason)"
        case .notAnObject(let kind): "the document must be an object, not \(kind)"
        case .invalid(let errors, let more):
            (["\(String(counting: errors.count + more, "error", "errors")), nothing was imported:"]
                + errors.map { "  \(String(printable: $0.description))" } + (more > 0 ? ["  and \(more) more"] : []))
                .joined(separator: "\n")
        }
    }
}
