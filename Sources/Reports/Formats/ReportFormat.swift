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
    package var text: String
    var markdown: String
    var html: String
    var json: String
    var csv: String

    package subscript(format: ReportFormat) -> String {
        switch format {
        case .text: text
        case .markdown: markdown
        case .html: html
        case .json: json
        case .csv: csv
        }
    }
}

extension ReportDocuments {
    init(of report: Report) {
        func document(_ format: ReportFormat) -> String { format.document(of: report) }
        self.init(
            text: document(.text), markdown: document(.markdown), html: document(.html), json: document(.json),
            csv: document(.csv))
    }
}
