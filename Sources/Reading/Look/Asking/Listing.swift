internal import Postgres
internal import Reports

/// A question of a page and how its answer is shown. Each column of the answer is one of the table, unless it is
/// hidden.
struct Listing: Sendable {
    /// Its name in the address of a file, and the id of its table.
    var name: String
    var caption: String
    /// Without a limit.
    var query: Query
    /// How many rows the page shows. A file has more.
    var most = 25
    var hidden: Set<String> = []
    /// Shares that are drawn as bars, too.
    var bars: Set<String> = []
    /// Columns of sentences.
    var prose: Set<String> = []
    /// The column that gets the small line of `by_day`.
    var spark: String?
    /// Where a cell leads.
    var link: @Sendable (_ row: Grid.Row, _ column: String) -> PageState? = { _, _ in nil }
    /// Columns that the page adds: they are computed from a row.
    var added: [@Sendable (Grid.Row) -> (title: String, cell: Table.Cell)] = []
    /// What columns mean here, where their names alone would tell otherwise: in words, or as in other views than those
    /// that the question names.
    var meanings: [String: String] = [:]
    var meansAsIn: [String] = []
    /// What stands for no rows.
    var none = "Nothing in these days."

    init(_ name: String, _ caption: String, _ query: Query) {
        (self.name, self.caption, self.query) = (name, caption, query)
    }

    /// A file is no page; but neither is it an export of everything.
    static let mostInFile = 10_000

    /// What people copy: it gives the rows that the page shows.
    var shown: String { query.shown + "\nLIMIT \(most)" }
}

/// What came back, with the question.
struct Answer: Sendable {
    let listing: Listing
    let grid: Grid
    /// Whether there are more rows than are shown.
    let isCut: Bool

    /// Of a question that was not asked.
    static func unread(_ listing: Listing) -> Answer { Answer(listing: listing, grid: .empty, isCut: false) }
}

extension Connection {
    /// Asks for what needs a scan of the deliveries of a day. PostgreSQL expects hardly any of them to have a given
    /// name, and would look up the other names of each one by one: ten times as slow as joining all at once. In the
    /// order in which they lie, only one process may read.
    mutating func scanning(_ listing: Listing, for state: PageState, inOrder: Bool = false) throws(PostgresError)
        -> Answer
    {
        try execute(
            script: "SET LOCAL enable_nestloop = off; SET LOCAL max_parallel_workers_per_gather = \(inOrder ? 0 : 2)")
        let answer = try answer(listing, for: state)
        try execute(script: "RESET enable_nestloop; RESET max_parallel_workers_per_gather")
        return answer
    }

    /// The rows that a page shows, also if only another table of it is wanted.
    mutating func rows(of answer: Answer, for state: PageState) throws(PostgresError) -> [Grid.Row] {
        guard state.isFile else { return answer.grid.rows }
        return try ask(answer.listing.query + "\nLIMIT \(Int64(answer.listing.most))").rows
    }

    /// Asks for what a page needs. If only one table of it is wanted, the others stay empty.
    mutating func answer(_ listing: Listing, for state: PageState) throws(PostgresError) -> Answer {
        let isFile = state.isFile
        guard !isFile || state.table == listing.name else {
            return .unread(listing)
        }
        let most = isFile ? Listing.mostInFile : listing.most
        let limited = listing.query + "\nLIMIT \(Int64(most + 1))"
        let grid = try ask(limited)
        return Answer(listing: listing, grid: grid.prefix(most), isCut: grid.rows.count > most)
    }
}
