internal import ServiceRuntime

extension String {
    /// Appends a text as HTML shows it, in elements and quoted attributes. Control and direction-changing characters are
    /// shown, not obeyed.
    mutating func appendHTML(_ text: String) {
        // Scalar by scalar: a mark that combines with a bracket makes another character of it, but not to a browser.
        for scalar in String(printable: text).unicodeScalars {
            switch scalar {
            case "&": append("&amp;")
            case "<": append("&lt;")
            case ">": append("&gt;")
            case "\"": append("&quot;")
            case "'": append("&#39;")
            case _ where scalar.properties.isNoncharacterCodePoint: append(scalar.escaped(asASCII: true))
            default: unicodeScalars.append(scalar)
            }
        }
    }

    /// A text as HTML shows it.
    init(html text: String) {
        self = ""
        appendHTML(text)
    }
}
