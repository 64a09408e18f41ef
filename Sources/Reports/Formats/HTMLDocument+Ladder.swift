extension HTMLDocument {
    /// A picture as wide as its place, with text in the reader's font size, and the table behind it.
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
            // The slope between two bars, as wide as the upper bar at its top and as the lower bar at its bottom.
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

/// The vertical layout of a step, in tenths of the font size: its text, its bar, and the gap to the next step.
private struct StepHeights {
    let baseline = 10
    let barStart = 15
    let barEnd = 25
    let gap = 10
    var step: Int { barEnd + gap }
    var between: Int { step + barStart - barEnd }
}

/// A length in multiples of the font size.
private struct Em: CustomStringConvertible {
    let tenths: Int

    init(_ tenths: Int) { self.tenths = tenths }

    var description: String { "\(tenths / 10).\(tenths % 10)em" }
}
