extension String {
    /// Appends a text as a terminal may see it: what it must not obey (control and direction-changing characters) is
    /// shown, not sent.
    package mutating func appendPrintable(_ text: String) {
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: append(scalar.escaped(asASCII: true))
            default: unicodeScalars.append(scalar)
            }
        }
    }

    /// A text as a terminal may see it.
    package init(printable text: String) {
        self = ""
        appendPrintable(text)
    }
}
