internal import EventLog
internal import Reports

/// How an event is printed.
enum ExportFormat: String, CaseIterable {
    case csv, ndjson
    /// CloudEvents in the structured batch mode: an array a line.
    case cloudEvents = "cloudevents"
    /// CSV for people: phones choose the names in it, and a spreadsheet must not run them.
    case spreadsheet

    /// The first line; nil if there is none.
    func header(_ columns: [String]) -> String? {
        shape != .cells ? nil : columns.map { Self.quoted($0) }.joined(separator: ",") + "\n"
    }

    var shape: LogExport.Shape {
        switch self {
        case .csv, .spreadsheet: .cells
        case .ndjson: .json
        case .cloudEvents: .cloudEvent
        }
    }

    /// Some events, in whole lines.
    func text(of events: [[String?]]) -> String {
        self == .cloudEvents ? Self.batches(of: events.compactMap { $0.first ?? nil }) : events.map(line).joined()
    }

    /// Arrays that one request may carry: at most so many events, and less than 1 MiB.
    private static func batches(of events: [String]) -> String {
        var text = ""
        var (count, bytes) = (0, 0)
        for event in events {
            let isFull = count == mostEvents || bytes + event.utf8.count + 2 > mostBytes
            if count > 0, isFull {
                text += "]\n"
                (count, bytes) = (0, 0)
            }
            text += count == 0 ? "[" : ","
            text += event
            count += 1
            bytes += event.utf8.count + 1
        }
        return events.isEmpty ? "" : text + "]\n"
    }

    private static let mostEvents = 1_000
    private static let mostBytes = 1_000_000

    /// An event as one line. In CSV null is an empty cell, and an empty text is `""`, as PostgreSQL's COPY reads them.
    private func line(_ cells: [String?]) -> String {
        cells.map { cell in
            switch self {
            case .csv: cell.map(Self.quoted) ?? ""
            case .ndjson, .cloudEvents: cell ?? ""
            case .spreadsheet: cell.map { CSVDocument.cell($0) } ?? ""
            }
        }.joined(separator: ",") + "\n"
    }

    private static func quoted(_ text: String) -> String {
        let isPlain = !text.isEmpty && text.utf8.allSatisfy { ![0x22, 0x2C, 0x0A, 0x0D].contains($0) }
        return isPlain ? text : "\"\(text.replacing("\"", with: "\"\""))\""
    }
}
