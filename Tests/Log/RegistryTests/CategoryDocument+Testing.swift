import Registry
import Testing

/// What is wrong with a document, each as `path: detail`; nothing when it is right.
func errors(_ text: String) -> [String] {
    do throws(RegistryDocumentError) {
        _ = try CategoryDocument(Array(text.utf8))
        return []
    } catch {
        switch error {
        case .invalid(let errors, _): return errors.map(\.description)
        default: return [error.description]
        }
    }
}

/// A document of our own shape with one category, of which these are further members.
func own(_ members: String) -> String { #"{"categories": [{"id": "INFO"\#(members.isEmpty ? "" : ", " + members)}]}"# }

/// A document of our own shape with one button, of which these are further members.
func button(_ members: String) -> String {
    own(#""actions": [{"id": "VIEW", "titles": {"en": "View"}\#(members.isEmpty ? "" : ", " + members)}]"#)
}
