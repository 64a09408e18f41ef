extension ReportFormat {
    /// Reports of several apps as one text; one alone stays as it is.
    package func joined(_ documents: [String]) -> String {
        guard documents.count > 1 else { return documents.first ?? "" }
        switch self {
        case .text: return documents.joined(separator: "\n" + String(repeating: "─", count: 100) + "\n\n")
        case .markdown: return documents.joined(separator: "\n---\n\n")
        // A report is a line: so are several.
        case .json, .html: return documents.joined()
        case .csv:
            // The header once.
            let rest = documents.dropFirst().map { document in
                String(Substring(document.unicodeScalars.drop { $0 != "\n" }.dropFirst()))
            }
            return documents[0] + rest.joined()
        }
    }
}
