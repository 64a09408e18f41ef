internal import EventLog
internal import Reports
internal import Values

/// A page, read and not yet drawn.
struct Sight: Sendable {
    var title: String
    /// What the page is about, in a sentence.
    var lead: String
    var state: PageState
    /// Nil for pages that are not about days.
    var scope: Scope?
    var parts: [Part] = []
    /// A report as it was told, which is a document of its own.
    var document: String?
    /// What a program is told of the table that it asked for.
    var facts: TableFacts?
    /// Where scripts are off, the browser reads the page anew after so many seconds.
    var refreshes: Int?

    init(_ title: String, lead: String, _ state: PageState, _ scope: Scope?) {
        (self.title, self.lead, self.state, self.scope) = (title, lead, state, scope)
    }

    mutating func add(_ title: String, _ pieces: [Piece?]) {
        parts.append(Part(title: title, pieces: pieces.compactMap(\.self)))
    }

    /// A heading and what stands below it.
    struct Part: Sendable {
        var title: String
        var pieces: [Piece]
    }

    enum Piece: Sendable {
        /// What a report also has.
        case block(Block)
        case trends([Chart])
        /// Ladders that are compared.
        case sideBySide([Ladder])
        case answer(Answer)
        /// An answer without its table, because a chart before it shows the figures.
        case source(Answer)
        case links([Link])
        case checks([Check])
        case live(LiveList)
        case finder(Finder)
        case search(Search)
        case choice(Choice)

        /// What its figures and columns are called.
        var titles: [String] {
            switch self {
            case .block(let block): block.titles
            case .trends(let charts): charts.map(\.title)
            case .sideBySide(let ladders): ladders.flatMap(\.table.columns).map(\.title)
            case .answer(let answer): answer.table.columns.map(\.title)
            // Its table is closed, or is that of the chart before it.
            case .source, .links, .checks, .live, .finder, .search, .choice: []
            }
        }

        static func words(_ words: String, _ tone: Tone = .plain) -> Piece { .block(.sentence(words, tone)) }
    }

    struct Link: Sendable {
        var text: String
        var address: String
        var isCurrent = false
    }

    /// One line of a check list.
    struct Check: Sendable {
        enum State: Sendable { case done, wrong, waiting }
        var state: State
        var title: String
        var words: String
    }

    /// Where somebody asks for one install, by its id or by a message that it got.
    struct Finder: Sendable {
        let app: String?
        let days: DayRange?
        /// Where the tabs of the install's page lead back to.
        let range: DayRange?
        let install: String
        let notification: String

        init(_ state: PageState) {
            (app, days) = (state.app, state.days)
            range = state.page == .install ? state.range : state.days
            install = state.filters[.install] ?? ""
            notification = state.filters[.notification] ?? ""
        }
    }

    /// Where somebody looks for a name in a list. Without a script it is a form like any other.
    struct Search: Sendable {
        /// Such as `a category`.
        let what: String
        /// The list, with what is looked for now.
        let state: PageState
    }

    /// Where somebody chooses among names.
    struct Choice: Sendable {
        struct Field: Sendable {
            let title: String
            let filter: PageState.Filter
            let chosen: String
        }

        let title: String
        let button: String
        let fields: [Field]
        let names: [String]
        let state: PageState
    }

    /// Events as they commit.
    struct LiveList: Sendable {
        var lines: [String]
        var position: LogPosition
        /// What stands for no lines.
        var none = "No events yet."
    }

    /// All tables, in their order.
    var answers: [Answer] {
        parts.flatMap(\.pieces).compactMap { piece in
            switch piece {
            case .answer(let answer), .source(let answer): answer
            default: nil
            }
        }
    }

    /// The table that the address asks for, if the page has it.
    var asked: Answer? { answers.first { $0.listing.name == state.table } }
}
