internal import Accounts
internal import EventLog
internal import HTTPServer
internal import Postgres
internal import Reports
internal import ServiceRuntime
internal import Values

/// What a program must know of a table besides its rows, read in the same snapshot.
struct TableFacts: Sendable {
    /// The batch up to which all funnels have counted; on a hub, one a cell.
    let position: LogPosition
    /// What the columns of the views mean.
    let meanings: [String: String]

    static func read(for answer: Answer, on connection: inout Connection) throws(PostgresError) -> TableFacts {
        TableFacts(
            position: try position(on: &connection),
            meanings: try ColumnMeanings.read(
                of: answer.grid.columns, in: answer.listing.meansAsIn + views(in: answer.listing.query.shown),
                on: &connection))
    }

    private static func views(in sql: String) -> [String] {
        sql.matches(of: /analytics\.([a-z_]+)/).map { String($0.1) }
    }

    private static func position(on connection: inout Connection) throws(PostgresError) -> LogPosition {
        guard try LogTails.isHub(&connection) else {
            let batch: Int64 = try connection.query("SELECT coalesce(min(position), 0) FROM analytics.projections")[0]
                .get(0)
            return LogPosition(batch)
        }
        var cells: [(String?, Int64)] = []
        for row in try connection.query("SELECT cell, min(position) FROM hub.projections GROUP BY cell ORDER BY cell") {
            cells.append((try row.get(0), try row.get(1)))
        }
        return LogPosition(cells)
    }
}

/// A table of a page for other programs: `?table=NAME&format=json`.
struct TableJSON: Sendable {
    let sight: Sight
    let answer: Answer
    let facts: TableFacts

    var text: String {
        let (state, listing, grid) = (sight.state, answer.listing, answer.grid)
        let columns = zip(grid.columns, grid.types).map { name, type -> JSONObject in
            [
                "name": name, "type": type,
                "meaning": listing.meanings[name] ?? facts.meanings[name],
            ]
        }
        let rows = grid.rows.map { row in JSONRow(values: zip(row.values, grid.types).map(JSONCell.init)) }
        let document: JSONObject = [
            "app": state.app, "page": state.page.rawValue, "table": listing.name, "title": listing.caption,
            "time_zone": sight.scope?.timeZone, "days": sight.scope.map { $0.days.json },
            "compared": sight.scope.flatMap { $0.compares && $0.isComparable ? $0.compared.json : nil },
            "position": "\(facts.position)", "settled": sight.scope.map(\.settledJSON),
            "sql": listing.query.shown + "\nLIMIT \(Listing.mostInFile)", "columns": columns, "rows": rows,
            "is_cut": answer.isCut,
        ]
        return document.json + "\n"
    }

    /// Changes with the position, and with whatever else a table is made of: categories, sends, the day that it is.
    static func tag(of text: String, at position: LogPosition) -> String {
        let digest = SHA256(of: text.utf8).bytes.prefix(12)
        // A comma would end the tag in a list of them.
        return "W/\"\("\(position)".replacing(",", with: ";"))-\(digest.hex)\""
    }
}

/// Which tables a page has, and where: `?format=json`.
struct TableIndex: Sendable {
    let sight: Sight

    var text: String {
        let tables = sight.answers.map { answer -> JSONObject in
            var state = sight.state
            (state.table, state.format) = (answer.listing.name, .json)
            return ["table": answer.listing.name, "title": answer.listing.caption, "address": state.address]
        }
        let document: JSONObject = [
            "app": sight.state.app, "page": sight.state.page.rawValue, "title": sight.title, "tables": tables,
        ]
        return document.json + "\n"
    }
}

private struct JSONRow: JSONWritable, Sendable {
    let values: [JSONCell]

    func appendJSON(to text: inout String) {
        text += "["
        for (place, value) in values.enumerated() {
            if place > 0 { text += "," }
            value.appendJSON(to: &text)
        }
        text += "]"
    }
}

/// Figures as the database has them, and what JSON has no form for as text.
private struct JSONCell: JSONWritable, Sendable {
    let value: AnyPostgresValue?
    let type: String

    init(_ value: AnyPostgresValue?, _ type: String) { (self.value, self.type) = (value, type) }

    func appendJSON(to text: inout String) {
        switch value {
        case nil: text += "null"
        case .flag(let flag)?: text += flag ? "true" : "false"
        case .integer(let number)?: text += "\(number)"
        // NaN and infinity are no numbers of JSON.
        case .decimal(let digits)? where Double(digits)?.isFinite == true: text += digits
        case .double(let number)? where number.isFinite: text += "\(number)"
        case .text(let json)? where type == "jsonb": text += String(escapedJSON: json)
        case .text(let words)?: text.appendJSON(words)
        case let other?: text.appendJSON(other.plain)
        }
    }
}

extension DayRange {
    fileprivate var json: JSONObject { ["first": "\(first)", "last": "\(last)"] }
}

extension Scope {
    /// Which of the days no longer change, and since when that is so: `hours` after the end of a day.
    fileprivate var settledJSON: JSONObject {
        let last = firstOpenDay.advanced(by: -1)
        return [
            "through": last >= days.first ? "\(min(last, days.last))" : nil, "all": last >= days.last,
            "hours": isByReceipt ? 0 : settled.hours, "words": settledness,
        ]
    }
}
