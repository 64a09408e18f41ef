import FunnelOracle
import Values

@testable import Reports

/// Pages of any shape, with names as nobody should choose them. Each figure is there once, so that it can be looked
/// for.
struct RandomPage {
    private var numbers: SeededNumbers
    private var figures = 1_000_000
    private(set) var page = Page(title: "", subtitle: "", sections: [])

    init(seed: UInt64) {
        numbers = SeededNumbers(seed: seed)
        page.title = name()
        page.subtitle = name()
        for _ in 0..<number(1...4) {
            page.sections.append(Page.Section(name(), (0..<number(0...5)).map { _ in block() }))
        }
    }

    var tables: [Table] {
        page.sections.flatMap(\.blocks).compactMap { block in
            switch block {
            case .table(let table): table
            case .ladder(let ladder): ladder.table
            case .sentence, .pointer, .figures, .trend: nil
            }
        }
    }

    static let names = [
        "", " ", "INFO_CATEGORY", "black friday", "a|b`<script>alert(1)</script>", "\u{202e}evil", "שלום", "مرحبا",
        "👨‍👩‍👧‍👦 family", "日本語のとても長いカテゴリ名でございます、どうぞよろしく", "first\r\nsecond\u{2028}third",
        "bell\u{7}escape\u{1b}[31mred\u{0}", String(repeating: "Long", count: 64), String(repeating: "宽", count: 85),
        "@everyone :tada: #12 gh-3 deadbeef", "https://example.org www.example.org example.org me@example.org",
        "*a* **b** _c_ ~~d~~ [e](f) ![g](h) <i>", "&amp; &#64;x \\| \\", "|", "`", "``", "1. - + > # = ---", "$x$ $$",
        "Z" + String(repeating: "\u{351}", count: 120), "\u{2066}open\u{200b}\u{feff}\u{115f}", "❤️ 🇹🇭 한국어",
        "end\u{ffff}",
        "כ 12 % |", "  indented", "1234567 a.b 4.2.0 a:b 09:30 a//b (x) x, y; z!",
    ]

    private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &numbers) }

    private mutating func name() -> String {
        let name = Self.names.randomElement(using: &numbers) ?? ""
        return number(1...4) == 1 ? "\(name) \(Self.names.randomElement(using: &numbers) ?? "")" : name
    }

    private mutating func tone() -> Tone { [.plain, .plain, .good, .alarm, .note].randomElement(using: &numbers)! }

    private mutating func figure() -> String {
        figures += 1
        return ["\(figures)", "\(figures) %", "+\(figures).5 points", "\(figures),000,000,000"].randomElement(
            using: &numbers)!
    }

    private mutating func block() -> Block {
        switch number(1...6) {
        case 6:
            return .pointer(name(), section: name())
        case 1:
            return .sentence((0..<number(0...9)).map { _ in name() }.joined(separator: " "), tone())
        case 2:
            return .figures((0..<number(0...7)).map { _ in Figure(name(), figure(), detail: name()) })
        case 3:
            return .table(table())
        case 4:
            return .trend(trend())
        default:
            let steps = (0..<number(0...6)).map { _ in
                Ladder.Step(name(), value: Int64(number(0...9_999_999)), share: Double(number(0...100)) / 100)
            }
            return .ladder(Ladder(name(), steps: steps, table: table()))
        }
    }

    private mutating func trend() -> Trend {
        let (days, open) = (number(0...28), number(0...9))
        let charts = (0..<number(0...4)).map { _ in
            Chart(
                title: name(), unit: number(1...2) == 1 ? .count : .share,
                points: (0..<days).map { place in
                    Chart.Point(
                        day: CivilDate(daysSince1970: 20_000 + place),
                        value: number(1...4) == 1 ? nil : Double(number(-9...9_999)), isOpen: place >= days - open)
                }, step: number(1...2) == 1 ? 1 : 7)
        }
        return Trend(name(), charts)
    }

    private mutating func table() -> Table {
        var columns = [Table.Column.name(name())]
        for _ in 0..<number(0...11) {
            columns.append(Table.Column(name(), [.name, .number, .number, .bar].randomElement(using: &numbers)!))
        }
        let rows = (0..<number(0...6)).map { _ in columns.map { cell(of: $0.kind) } }
        return Table(name(), columns: columns, rows: rows, omitted: number(0...2) * 7)
    }

    private mutating func cell(of kind: Table.Column.Kind) -> Table.Cell {
        switch kind {
        case .name: Table.Cell(name(), tone: tone())
        case .number: Table.Cell(figure(), tone: tone())
        case .bar: Table.Cell(figure(), share: number(1...4) == 1 ? nil : Double(number(-10...110)) / 100, tone: tone())
        }
    }
}
