extension HTMLDocument {
    /// A picture that is as wide as its place, with letters of the reader's size, and its table behind it.
    mutating func write(_ ladder: Ladder) {
        let isNarrow = ladder.table.columns.count <= 4
        write("<figure class=\"ladder\(isNarrow ? " beside" : "")\">\n")
        write("<figcaption>\(String(html: ladder.caption))</figcaption>\n")
        if !ladder.steps.isEmpty { picture(of: ladder) }
        write("<details>\n<summary>In figures</summary>\n")
        write(ladder.table)
        write("</details>\n</figure>\n")
    }

    private mutating func picture(of ladder: Ladder) {
        let id = makeID("ladder")
        let heights = StepHeights()
        let height = heights.step * ladder.steps.count - heights.gap
        write("<svg class=\"picture\" role=\"img\" aria-labelledby=\"\(id) \(id)-steps\" height=\"\(Em(height))\">\n")
        write("<title id=\"\(id)\">\(String(html: ladder.caption))</title>\n")
        let steps = ladder.steps.map { "\($0.label): \($0.told)" }
        write("<desc id=\"\(id)-steps\">\(String(html: steps.joined(separator: "; ")))</desc>\n")
        for (place, pair) in zip(ladder.steps, ladder.steps.dropFirst()).enumerated() {
            let (upper, lower) = (Percent(pair.0.share), Percent(pair.1.share))
            // Between two bars, as wide as the one above it and the one below it.
            write("<svg y=\"\(Em(place * heights.step + heights.barEnd))\" height=\"\(Em(heights.between))\" ")
            write("viewBox=\"0 0 1000 1\" preserveAspectRatio=\"none\" width=\"100%\">")
            write("<path class=\"slope\" d=\"M0 0H\(upper.tenths)L\(lower.tenths) 1H0Z\"/></svg>\n")
        }
        for (place, step) in ladder.steps.enumerated() {
            let top = place * heights.step
            write("<text y=\"\(Em(top + heights.baseline))\">\(String(html: step.label))</text>")
            write("<text x=\"100%\" y=\"\(Em(top + heights.baseline))\" text-anchor=\"end\">")
            write(
                "\(Wording.count(step.value)) <tspan class=\"of\">· \(String(html: Wording.percent(step.share)))</tspan></text>"
            )
            write("<rect class=\"fill\" y=\"\(Em(top + heights.barStart))\" width=\"\(Percent(step.share))\" ")
            write("height=\"\(Em(heights.barEnd - heights.barStart))\" rx=\"2\"/>\n")
        }
        write("</svg>\n")
    }
}

extension Ladder.Step {
    fileprivate var told: String { "\(Wording.count(value)), \(Wording.percent(share))" }
}

/// Of a step of a ladder, in tenths of the letters' size: its words, its bar, and what is left to the next one.
private struct StepHeights {
    let baseline = 10
    let barStart = 15
    let barEnd = 25
    let gap = 10
    var step: Int { barEnd + gap }
    var between: Int { step + barStart - barEnd }
}

/// A length in sizes of the letters.
private struct Em: CustomStringConvertible {
    let tenths: Int

    init(_ tenths: Int) { self.tenths = tenths }

    var description: String { "\(tenths / 10).\(tenths % 10)em" }
}
