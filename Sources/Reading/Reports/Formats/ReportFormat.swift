/// The formats of a report.
package enum ReportFormat: String, CaseIterable, Sendable {
    case text, markdown, html, json, csv

    /// The extension of a file in this format.
    package var fileExtension: String {
        switch self {
        case .text: "txt"
        case .markdown: "md"
        case .html, .json, .csv: rawValue
        }
    }

    /// The report in this format, without colour. It ends with a newline.
    func document(of report: Report) -> String {
        switch self {
        case .text: TextDocument(Page(report)).text(inColour: false)
        case .markdown: MarkdownDocument(Page(report)).text
        case .html: HTMLDocument(Page(report)).text
        case .json: JSONDocument(report).text
        case .csv: CSVDocument([report]).text
        }
    }
}

/// A report printed in every format.
package struct ReportDocuments: Sendable {
    let texts: [ReportFormat: String]

    package subscript(format: ReportFormat) -> String { texts[format] ?? "" }
    package var text: String { self[.text] }
}

extension ReportDocuments {
    init(of report: Report) {
        texts = Dictionary(uniqueKeysWithValues: ReportFormat.allCases.map { ($0, $0.document(of: report)) })
    }
}

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
