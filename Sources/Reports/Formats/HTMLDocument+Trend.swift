extension HTMLDocument {
    /// A small picture for each line, and the table behind all of them. Pointing at a day shows its figure.
    mutating func write(_ trend: Trend) {
        write(
            "<figure class=\"trend\">\n<figcaption>\(String(html: trend.caption))</figcaption>\n<div class=\"lines\">\n"
        )
        for line in trend.lines { write(line, of: trend) }
        write("</div>\n<details>\n<summary>In figures</summary>\n")
        write(trend.table)
        write("</details>\n</figure>\n")
    }

    private mutating func write(_ line: Trend.Line, of trend: Trend) {
        let id = makeID("trend")
        let told = "\(line.points.last?.told ?? "–"), range \(trend.range(of: line))"
        write("<div class=\"line\">\n<p id=\"\(id)\">\(String(html: line.name)) ")
        write("<span class=\"value\">\(String(html: line.points.last?.told ?? "–"))</span></p>\n")
        write("<svg class=\"plot\" role=\"img\" aria-labelledby=\"\(id) \(id)-range\" viewBox=\"0 -5 ")
        write("\(TrendPath.width(of: trend)) \(TrendPath.height + 10)\" preserveAspectRatio=\"none\">\n")
        write("<desc>\(String(html: told))</desc>\n")
        let heights = trend.heights(of: line)
        let settled = max(0, heights.count - trend.unsettled)
        // The line to the first unsettled point is still changing, too.
        write("<path class=\"stroke\" d=\"\(TrendPath(heights, 0..<settled))\"/>\n")
        write("<path class=\"stroke open\" d=\"\(TrendPath(heights, max(0, settled - 1)..<heights.count))\"/>\n")
        for (place, point) in line.points.enumerated() {
            write("<rect class=\"spot\" x=\"\(place * TrendPath.step)\" y=\"-5\" width=\"\(TrendPath.step)\" ")
            write("height=\"\(TrendPath.height + 10)\"><title>")
            write("\(String(html: trend.times[place])): \(String(html: point.told))</title></rect>\n")
        }
        write("</svg>\n<p class=\"axis\"><span>\(String(html: trend.times.first ?? ""))</span>")
        write("<span>\(String(html: trend.times.last ?? ""))</span></p>\n")
        write("<p class=\"axis\" id=\"\(id)-range\">\(String(html: trend.range(of: line)))</p>\n</div>\n")
    }
}

/// A line through the points that are known, in the units of the picture. Where one is missing, the line is broken.
private struct TrendPath: CustomStringConvertible {
    static let step = 10
    static let height = 50
    let description: String

    static func width(of trend: Trend) -> Int { max(1, trend.times.count) * step }

    init(_ heights: [Double?], _ range: Range<Int>) {
        var path = ""
        var isOpen = false
        for place in range {
            guard let height = heights[place] else {
                isOpen = false
                continue
            }
            let (x, y) = (place * Self.step + Self.step / 2, Int(((1 - height) * Double(Self.height)).rounded()))
            // A lone point is a line without length, which round ends make a dot.
            path += isOpen ? "L\(x) \(y)" : "M\(x) \(y)h0"
            isOpen = true
        }
        description = path
    }
}
