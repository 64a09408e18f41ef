/// A report as it is printed, in every format.
package struct ReportDocuments: Sendable {
    package var text: String
    package var markdown: String
    package var html: String
    package var json: String
    package var csv: String

    package init(text: String, markdown: String, html: String, json: String, csv: String) {
        (self.text, self.markdown, self.html, self.json, self.csv) = (text, markdown, html, json, csv)
    }

    /// Prints a report.
    package init(of report: Report) {
        self.init(
            text: ReportFormat.text.document(of: report), markdown: ReportFormat.markdown.document(of: report),
            html: ReportFormat.html.document(of: report), json: ReportFormat.json.document(of: report),
            csv: ReportFormat.csv.document(of: report))
    }

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
