internal import Telemetry
internal import Values

/// A report in words and tables, before anybody has decided how it looks. It is written once and drawn as text,
/// Markdown and HTML. Any of its texts may contain names from outside, unchanged: whoever draws a page makes all of it
/// safe.
struct Page: Hashable, Sendable {
    var title: String
    /// Under the title: the day, its time zone, the position in the log, and when the report was made.
    var subtitle: String
    var sections: [Section]
    /// How many sections are enough for who only wants to know what happened and what to do. The rest stands behind a
    /// divide; nil if nothing is divided.
    var leading: Int?

    /// The sections before and behind the divide.
    var front: ArraySlice<Section> { sections.prefix(leading ?? sections.count) }
    var details: ArraySlice<Section> { sections.dropFirst(leading ?? sections.count) }

    /// What the divide says.
    static let divide = "Details"
    var divideWords: String {
        let alarms = details.filter(\.hasAlarm).map(\.title)
        return alarms.isEmpty
            ? "The rest of the report, section by section. It has no alarm."
            : "The rest of the report, section by section. Alarms are in: \(alarms.joined(separator: ", "))."
    }

    struct Section: Hashable, Sendable {
        var title: String
        var blocks: [Block]

        init(_ title: String, _ blocks: [Block]) { (self.title, self.blocks) = (title, blocks) }

        /// With a word on rates over 100 %, if it has any, and on each term that no section before it explains.
        fileprivate func explained(_ glossary: inout Glossary) -> Section {
            let isBeyond = blocks.contains { block in
                switch block {
                case .table(let table): table.isBeyondWhole
                case .ladder(let ladder): ladder.table.isBeyondWhole
                case .sentence, .pointer, .figures, .trend: false
                }
            }
            let said = blocks.compactMap { if case .sentence(let words, _) = $0 { words } else { nil } }
            let notes = [
                isBeyond ? Wording.beyondWhole : nil, glossary.explain(blocks.flatMap(\.titles), beside: said),
            ]
            return Section(title, blocks + notes.compactMap(\.self).map { .sentence($0, .note) })
        }

        var hasAlarm: Bool {
            blocks.contains { if case .sentence(_, .alarm) = $0 { true } else { false } }
        }
    }
}

extension Page {
    /// A report as people read it.
    init(_ report: Report) {
        var glossary = Glossary()
        func told(_ sections: [any ReportSection.Type]) -> [Section] {
            sections.compactMap { $0.words(report)?.explained(&glossary) }
        }
        let front = report.isEmpty ? [Page.nothing(report)] : told(Report.front(of: report.period))
        let details = report.isEmpty ? [] : told(Report.details(of: report.period))
        self.init(
            title: "\(report.app) · \(report.period.title)",
            subtitle: "Push notifications of this \(report.period.word), \(report.timeZone) time. "
                + "Made \(report.madeAt.description.prefix(16).replacing("T", with: " ")) UTC "
                + "from the log up to position \(report.position).",
            sections: front + details, leading: details.isEmpty ? nil : front.count)
    }

    private static func nothing(_ report: Report) -> Section {
        let words = "No event of \(report.app) is on record for this \(report.period.word)."
        let changes = EarlierDaysSection.words(report)?.blocks ?? []
        return Section("Nothing to report", [.sentence(words, .plain)] + changes)
    }
}

/// A piece of a page.
package enum Block: Hashable, Sendable {
    case sentence(String, Tone)
    /// What to do, without a full stop, and the title of the section that tells more.
    case pointer(String, section: String)
    /// The most important figures, side by side.
    case figures([Figure])
    case table(Table)
    case ladder(Ladder)
    case trend(Trend)
}

extension Block {
    /// A pointer as a sentence, for formats without links.
    static func sentence(_ words: String, pointingTo section: String) -> Block {
        .sentence("\(words) (see “\(section)”).", .plain)
    }
}

/// How a sentence or a value is meant.
package enum Tone: String, Hashable, Sendable {
    case plain, good, alarm
    /// Small print: where a number comes from.
    case note
}

/// A number with its name, and a remark beside it.
package struct Figure: Hashable, Sendable {
    package var name: String
    package var value: String
    package var detail: String

    package init(_ name: String, _ value: String, detail: String = "") {
        (self.name, self.value, self.detail) = (name, value, detail)
    }
}

/// Rows and columns. Every row has a cell for every column.
package struct Table: Hashable, Sendable {
    package var caption: String
    package var columns: [Column]
    package var rows: [[Cell]]
    /// The number of rows that are left out because the list is long.
    package var omitted: Int

    package init(_ caption: String, columns: [Column], rows: [[Cell]], omitted: Int = 0) {
        (self.caption, self.columns, self.rows, self.omitted) = (caption, columns, rows, omitted)
    }

    /// The number of rows that people read. JSON and CSV have all of them.
    static let mostRows = 15

    /// A row for each element of a list, up to as many as people read. Every row has the same fields.
    init<Row>(_ caption: String, of list: [Row], most: Int = Table.mostRows, row: (Row) -> [Field]) {
        let rows = list.prefix(most).map(row)
        self.init(
            caption, columns: rows.first?.map(\.column) ?? [], rows: rows.map { $0.map(\.cell) },
            omitted: max(0, list.count - most))
    }

    package struct Column: Hashable, Sendable {
        package enum Kind: String, Hashable, Sendable {
            /// Text, aligned left.
            case name
            /// A figure, aligned right.
            case number
            /// A share, drawn as a bar beside its figure. The greatest of the column has the longest bar.
            case bar
        }
        package var title: String
        package var kind: Kind
        /// Whether its names are sentences, which a page of `bellwether look` gives more room.
        package var isProse = false

        package init(_ title: String, _ kind: Kind) { (self.title, self.kind) = (title, kind) }

        package static func name(_ title: String) -> Column { Column(title, .name) }
        package static func number(_ title: String) -> Column { Column(title, .number) }
        package static func bar(_ title: String) -> Column { Column(title, .bar) }
    }

    package struct Cell: Hashable, Sendable {
        package var text: String
        /// 0 to 1, in a bar column; nil draws no bar.
        package var share: Double?
        /// Between which shares the true one lies with 95 % confidence. Where there is room, it is drawn over the bar.
        package var interval: ClosedRange<Double>?
        package var tone: Tone
        /// Whether it is a rate over 100 %.
        package var isBeyondWhole = false
        /// Where more of it is shown, on a page of `bellwether look`. A report has no links.
        package var link: String?
        /// How it came to be, day by day: drawn small beside a number. Nil is a day without one.
        package var spark: [Double?] = []

        package init(
            _ text: String, share: Double? = nil, interval: ClosedRange<Double>? = nil, tone: Tone = .plain
        ) {
            (self.text, self.share, self.interval, self.tone) = (text, share, interval, tone)
        }
    }

    /// Whether a rate of it is over 100 %.
    package var isBeyondWhole: Bool { rows.contains { $0.contains(where: \.isBeyondWhole) } }

    /// With bars that are long enough to be compared: in each column the greatest share has a whole one.
    var withScaledBars: Table {
        var table = self
        for column in columns.indices where columns[column].kind == .bar {
            let greatest = rows.compactMap { $0[column].share }.max() ?? 0
            guard greatest > 0 else { continue }
            for row in rows.indices {
                table.rows[row][column].share = rows[row][column].share.map { $0 / greatest }
                table.rows[row][column].interval = rows[row][column].interval.flatMap {
                    let (low, high) = ($0.lowerBound / greatest, $0.upperBound / greatest)
                    return low <= high ? low...high : nil
                }
            }
        }
        return table
    }

    /// A cell with its column.
    struct Field {
        var column: Column
        var cell: Cell

        private init(_ title: String, _ kind: Column.Kind, _ cell: Cell) {
            (column, self.cell) = (Column(title, kind), cell)
        }

        static func text(_ title: String, _ text: String, tone: Tone = .plain) -> Field {
            Field(title, .name, Cell(text, tone: tone))
        }
        /// A name from outside, or `none` where the events give no name.
        static func name(_ title: String, _ name: String, else none: String, tone: Tone = .plain) -> Field {
            text(title, Wording.name(name, else: none), tone: tone)
        }
        /// A figure that is already in words.
        static func number(_ title: String, _ text: String) -> Field { Field(title, .number, Cell(text)) }
        static func count(_ title: String, _ count: Int64) -> Field { number(title, Wording.count(count)) }
        static func percent(_ title: String, _ rate: Rate?) -> Field {
            var field = number(title, Wording.percent(rate?.value))
            field.cell.isBeyondWhole = rate?.value ?? 0 > 1
            return field
        }
        /// A rate with its bar. A rate of very few has none: it would often be the longest, and means the least.
        static func bar(_ title: String, _ rate: Rate, tone: Tone = .plain) -> Field {
            let isDrawn = rate.whole >= leastDrawn
            var cell = Cell(
                Wording.percent(rate), share: isDrawn ? rate.value : nil, interval: isDrawn ? Interval.of(rate) : nil,
                tone: tone)
            cell.isBeyondWhole = rate.value ?? 0 > 1
            return Field(title, .bar, cell)
        }
        static let leastDrawn = 10
        /// Where the true rate lies with 95 % confidence.
        static func interval(_ rate: Rate) -> Field {
            number("95 % interval", Wording.range(Interval.of(rate)))
        }
        static func bar(_ title: String, _ text: String, share: Double?, tone: Tone = .plain) -> Field {
            Field(title, .bar, Cell(text, share: share, tone: tone))
        }
    }
}

/// A funnel: steps from wide to narrow, each a share of the first. Its table has the same figures and more.
package struct Ladder: Hashable, Sendable {
    package var caption: String
    package var steps: [Step]
    package var table: Table

    package init(_ caption: String, steps: [Step], table: Table) {
        (self.caption, self.steps, self.table) = (caption, steps, table)
    }

    package struct Step: Hashable, Sendable {
        package var label: String
        package var value: Int64
        /// The share of the first step, 0 to 1.
        package var share: Double

        package init(_ label: String, value: Int64, share: Double) {
            (self.label, self.value, self.share) = (label, value, share)
        }
    }
}
