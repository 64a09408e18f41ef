internal import ServiceRuntime

extension String {
    /// A text from anywhere as a terminal may see it, in columns that every terminal counts alike. Controls, direction
    /// marks and what is not seen at all are shown by their numbers, not sent.
    init(forTerminal text: String) {
        self = ""
        var marks = 0
        for scalar in String(printable: text).unicodeScalars {
            // These choose between the look of a letter and of a picture, and with it, on some terminals, the width.
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

    /// No script puts more marks on a letter; more of them paint over the lines above and below.
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
