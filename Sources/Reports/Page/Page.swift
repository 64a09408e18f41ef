/// A report in words and tables, before anybody has decided how it looks: written once, drawn as text, Markdown and HTML.
/// Names from outside stand in any of its texts, as they came: whoever draws a page makes all of it safe.
package struct Page: Hashable, Sendable {
    package var title: String
    /// Under the title: app, day, zone, position, when made.
    package var subtitle: String
    package var sections: [Section]

    package init(title: String, subtitle: String, sections: [Section]) {
        (self.title, self.subtitle, self.sections) = (title, subtitle, sections)
    }

    package struct Section: Hashable, Sendable {
        package var title: String
        package var blocks: [Block]

        package init(_ title: String, _ blocks: [Block]) { (self.title, self.blocks) = (title, blocks) }
    }
}

/// A piece of a page.
package enum Block: Hashable, Sendable {
    case sentence(String, Tone)
    /// The figures that matter most, side by side.
    case figures([Figure])
    case table(Table)
    case ladder(Ladder)
}

/// How a sentence or a value is meant.
package enum Tone: String, Hashable, Sendable {
    case plain, good, alarm
    /// How a number came to be; small print.
    case note
}

/// A number with its name and what is said beside it.
package struct Figure: Hashable, Sendable {
    package var name: String
    package var value: String
    package var detail: String

    package init(_ name: String, _ value: String, detail: String = "") {
        (self.name, self.value, self.detail) = (name, value, detail)
    }
}

/// Rows and columns; every row has a cell for every column.
package struct Table: Hashable, Sendable {
    package var caption: String
    package var columns: [Column]
    package var rows: [[Cell]]
    /// Rows that are left out for length.
    package var omitted: Int

    package init(_ caption: String, columns: [Column], rows: [[Cell]], omitted: Int = 0) {
        (self.caption, self.columns, self.rows, self.omitted) = (caption, columns, rows, omitted)
    }

    package struct Column: Hashable, Sendable {
        package enum Kind: Hashable, Sendable {
            /// Text, to the left.
            case name
            /// A figure, to the right.
            case number
            /// A share of one, drawn as a bar beside its figure.
            case bar
        }
        package var title: String
        package var kind: Kind

        package init(_ title: String, _ kind: Kind) { (self.title, self.kind) = (title, kind) }

        package static func name(_ title: String) -> Column { Column(title, .name) }
        package static func number(_ title: String) -> Column { Column(title, .number) }
        package static func bar(_ title: String) -> Column { Column(title, .bar) }
    }

    package struct Cell: Hashable, Sendable {
        package var text: String
        /// 0 to 1, in a bar column; nil draws none.
        package var share: Double?
        package var tone: Tone

        package init(_ text: String, share: Double? = nil, tone: Tone = .plain) {
            (self.text, self.share, self.tone) = (text, share, tone)
        }
    }
}

/// A funnel: steps from wide to narrow, each a share of the first. Its table says the same, and more, in figures.
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
        /// Of the first step, 0 to 1.
        package var share: Double

        package init(_ label: String, value: Int64, share: Double) {
            (self.label, self.value, self.share) = (label, value, share)
        }
    }
}
