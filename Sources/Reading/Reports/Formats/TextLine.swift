internal import ServiceRuntime

/// A line for a terminal: texts at their columns, each in a style.
struct TextLine {
    /// The escape code for the terminal, used if colour is wanted.
    enum Style: String {
        case plain = ""
        case bold = "1"
        case faint = "2"
        case alarm = "31"
        case good = "32"
        case bar = "36"
    }

    private var spans: [(blanks: String, text: String, style: Style)] = []
    /// Where the last text ends, and where the next one begins.
    private var end = 0
    private(set) var column = 0
    private var endsRightToLeft = false

    /// A blank that has a direction. Around a name written from right to left, it keeps a terminal that reorders lines
    /// from moving the figures beside the name. Most terminals ignore the characters that Unicode has for this purpose,
    /// and on some they take a column.
    static let directedBlank: Character = "\u{2800}"

    init(indent: Int = 0) { column = indent }

    /// Lets the next text begin there.
    mutating func move(to column: Int) { self.column = max(self.column, column) }

    mutating func add(_ text: String, _ style: Style = .plain) {
        guard !text.isEmpty else { return }
        let isRightToLeft = text.hasRightToLeft
        var blanks = Array(repeating: Character(" "), count: column - end)
        if !blanks.isEmpty, endsRightToLeft { blanks[0] = Self.directedBlank }
        if !blanks.isEmpty, isRightToLeft { blanks[blanks.count - 1] = Self.directedBlank }
        spans.append((String(blanks), text, style))
        column += text.displayWidth
        (end, endsRightToLeft) = (column, isRightToLeft)
    }

    /// Without trailing blanks. Every style ends where its text ends.
    func text(inColour: Bool) -> String {
        var spans = spans
        while let last = spans.popLast() {
            guard let end = last.text.lastIndex(where: { $0 != " " }) else { continue }
            spans.append((last.blanks, String(last.text[...end]), last.style))
            break
        }
        return spans.map { blanks, text, style in
            style == .plain || !inColour ? blanks + text : "\(blanks)\u{1b}[\(style.rawValue)m\(text)\u{1b}[0m"
        }.joined()
    }
}

extension TextLine.Style {
    init(_ tone: Tone) {
        self =
            switch tone {
            case .plain: .plain
            case .good: .good
            case .alarm: .alarm
            case .note: .faint
            }
    }
}

extension String {
    /// A text from anywhere, safe for a terminal and of the same width on every terminal. Control characters, direction
    /// marks and invisible characters are shown by their numbers, not sent.
    init(forTerminal text: String) {
        self = ""
        var marks = 0
        for scalar in String(printable: text).unicodeScalars {
            // These select between a letter and a picture, and on some terminals they change the width.
            if scalar == "\u{fe0e}" || scalar == "\u{fe0f}" { continue }
            marks = scalar.displayWidth == 0 ? marks + 1 : 0
            let isUnseen =
                scalar.properties.isDefaultIgnorableCodePoint || scalar.properties.isNoncharacterCodePoint
            if isUnseen || marks > String.mostMarks {
                append(scalar.escaped(asASCII: true))
            } else {
                unicodeScalars.append(scalar)
            }
        }
    }

    /// No script puts more marks on a letter. More of them would paint over the lines above and below.
    private static var mostMarks: Int { 4 }

    /// Whether a letter in it is written from right to left.
    var hasRightToLeft: Bool {
        unicodeScalars.contains { scalar in
            switch scalar.value {
            case 0x590...0x8ff, 0xfb1d...0xfdff, 0xfe70...0xfefe, 0x10800...0x10fff, 0x1e800...0x1efff: true
            default: false
            }
        }
    }
}
