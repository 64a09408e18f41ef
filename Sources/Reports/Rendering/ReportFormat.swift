/// What a report can be printed as.
package enum ReportFormat: String, CaseIterable, Sendable {
    case text, markdown, html, json, csv

    /// How a file of it ends.
    package var fileExtension: String {
        switch self {
        case .text: "txt"
        case .markdown: "md"
        case .html, .json, .csv: rawValue
        }
    }

    /// The report in this format, without colour, ending in a newline.
    package func document(of report: Report) -> String {
        switch self {
        case .text: TextDocument(Page(report)).text(inColour: false)
        case .markdown: MarkdownDocument(Page(report)).text
        case .html: HTMLDocument(Page(report)).text
        case .json: JSONDocument(report).text
        case .csv: CSVDocument([report]).text
        }
    }
}
