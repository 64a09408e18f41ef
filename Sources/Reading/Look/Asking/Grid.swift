internal import Postgres
internal import Values

/// What a question came back with: whatever columns it has.
struct Grid: Sendable {
    let columns: [String]
    /// As PostgreSQL names them.
    let types: [String]
    let rows: [Row]

    struct Row: Sendable {
        let values: [AnyPostgresValue?]
        private let places: [String: Int]

        init(_ values: [AnyPostgresValue?], _ places: [String: Int]) { (self.values, self.places) = (values, places) }

        subscript(column: String) -> AnyPostgresValue? { places[column].flatMap { values[$0] } }

        func text(_ column: String) -> String? { if case .text(let text)? = self[column] { text } else { nil } }
        func day(_ column: String) -> CivilDate? { if case .day(let day)? = self[column] { day } else { nil } }
        func uuid(_ column: String) -> UUID? { if case .uuid(let id)? = self[column] { id } else { nil } }
        func flag(_ column: String) -> Bool { self[column] == .flag(true) }
        func number(_ column: String) -> Double? { self[column]?.number }
        /// 0 for nothing.
        func count(_ column: String) -> Int64 { self[column]?.count ?? 0 }
    }

    init(_ rows: Rows) throws(PostgresError) {
        (columns, types) = (rows.columnNames, rows.columnTypes)
        let places = Dictionary(columns.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        var read: [Row] = []
        for row in 0..<rows.count {
            var values: [AnyPostgresValue?] = []
            for column in columns.indices { values.append(try rows.any(row, column)) }
            read.append(Row(values, places))
        }
        self.rows = read
    }

    /// The first rows.
    func prefix(_ most: Int) -> Grid { Grid(columns, types, Array(rows.prefix(most))) }

    /// Of a question that was not asked.
    static let empty = Grid([], [], [])

    init(_ columns: [String], _ types: [String], _ rows: [Row]) {
        (self.columns, self.types, self.rows) = (columns, types, rows)
    }
}

extension AnyPostgresValue {
    var number: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .decimal(let text): Double(text)
        case .double(let number): number
        default: nil
        }
    }

    var count: Int64? {
        switch self {
        case .integer(let number): number
        case .decimal(let text): Int64(text) ?? Double(text).flatMap { Int64(exactly: $0.rounded()) }
        case .double(let number): Int64(exactly: number.rounded())
        default: nil
        }
    }

    /// As psql prints it in its unaligned form, so that both can be compared.
    var plain: String {
        switch self {
        case .text(let text): text
        case .integer(let number): "\(number)"
        case .decimal(let text): text
        case .double(let number): number == number.rounded() && abs(number) < 1e15 ? "\(Int64(number))" : "\(number)"
        case .flag(let flag): flag ? "t" : "f"
        case .day(let day): "\(day)"
        case .moment(let moment): "\(moment)"
        case .uuid(let id): "\(id)"
        }
    }
}

extension Connection {
    mutating func ask(_ query: Query) throws(PostgresError) -> Grid { try Grid(try self.query(query.statement)) }
}
