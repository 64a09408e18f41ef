internal import ServiceRuntime

extension HTMLDocument {
    /// Charts, and the table behind all of them.
    mutating func write(_ trend: Trend) {
        write("<figure class=\"trend\">\n<figcaption>\(String(html: trend.caption))</figcaption>\n")
        write(trend.charts)
        write("<details>\n<summary>In figures</summary>\n")
        write(trend.table)
        write("</details>\n</figure>\n")
    }

    /// Charts beside each other, as far as there is room.
    package mutating func write(_ charts: [Chart]) {
        write("<div class=\"trends\">\n")
        for chart in charts { write(chart) }
        write("</div>\n")
    }

    /// A chart as wide as its place. Its shapes stretch; its texts keep the reader's size.
    private mutating func write(_ chart: Chart) {
        let id = makeID("chart")
        write("<figure class=\"graph\">\n<figcaption>\(String(html: chart.title))</figcaption>\n")
        write(
            "<svg class=\"chart\" role=\"img\" aria-labelledby=\"\(id) \(id)-told\" width=\"100%\" height=\"11em\">\n")
        write("<title id=\"\(id)\">\(String(html: chart.title))</title>")
        write("<desc id=\"\(id)-told\">\(String(html: chart.told))</desc>\n")
        let shape = Shape(chart)
        // A point at the top is drawn whole.
        write("<svg y=\"1.4em\" width=\"100%\" height=\"8em\" viewBox=\"0 0 1000 100\" preserveAspectRatio=\"none\"")
        write(" overflow=\"visible\">")
        write("<path class=\"rule\" d=\"M0 0H1000M0 50H1000M0 100H1000\"/>")
        if let open = shape.firstOpen {
            write("<rect class=\"still\" x=\"\(open)\" width=\"\(1000 - open)\" height=\"100\"/>")
        }
        for (name, path) in [
            ("usual", shape.usual), ("was", shape.compared), ("run", shape.line), ("run open", shape.openLine),
            ("dot", shape.dots), ("dot open", shape.openDots), ("told", shape.told),
        ] where !path.isEmpty {
            write("<path class=\"\(name)\" d=\"\(path)\"/>")
        }
        if chart.points.count <= 62 {
            for (place, point) in chart.points.enumerated() {
                write("<rect class=\"hit\" x=\"\(shape.start(place))\" width=\"\(shape.width)\" height=\"100\">")
                write("<title>\(String(html: chart.tip(point)))</title></rect>")
            }
        }
        write("</svg>\n")
        write("<text class=\"axis\" y=\"1.1em\">\(String(html: chart.words(chart.top)))</text>")
        write("<text class=\"axis\" y=\"5.1em\">\(String(html: chart.words((chart.top + chart.bottom) / 2)))</text>")
        if chart.bottom > 0 {
            write("<text class=\"axis\" y=\"9.1em\">\(String(html: chart.words(chart.bottom)))</text>")
        }
        for (place, at, anchor) in shape.labels {
            write("<text class=\"axis\" x=\"\(at)\" y=\"10.6em\" text-anchor=\"\(anchor)\">")
            write("\(String(html: Wording.brief(chart.points[place].day)))</text>")
        }
        write("</svg>\n</figure>\n")
    }
}

extension Chart {
    fileprivate func tip(_ point: Point) -> String {
        var tip = "\(name(of: point)): \(point.value == nil ? "no figure" : words(point.value))"
        if let usual = point.usual { tip += ", usually \(words(usual.lowerBound)) to \(words(usual.upperBound))" }
        if let compared = point.compared { tip += ", compared with \(words(compared))" }
        if let told = point.told { tip += ", told as \(words(told))" }
        return point.isOpen ? tip + "; still changing" : tip
    }
}

/// The points of a chart in a box of 1000 by 100.
private struct Shape {
    private let chart: Chart
    private let top: Double
    private let bottom: Double
    let width: Int

    init(_ chart: Chart) {
        self.chart = chart
        (top, bottom) = (chart.top, chart.bottom)
        width = 1000 / max(chart.points.count, 1)
    }

    func start(_ place: Int) -> Int { 1000 * place / max(chart.points.count, 1) }
    private func x(_ place: Int) -> Int { start(place) + width / 2 }
    private func y(_ value: Double) -> String {
        let tenths = Int(saturating: (1000 - 1000 * min(max((value - bottom) / (top - bottom), 0), 1)).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }

    var firstOpen: Int? { chart.points.firstIndex(where: \.isOpen).map(start) }

    private func path(_ value: (Chart.Point) -> Double?, where isDrawn: (Int) -> Bool = { _ in true }) -> String {
        var (path, isDrawing) = ("", false)
        for (place, point) in chart.points.enumerated() {
            guard isDrawn(place), let value = value(point) else {
                isDrawing = false
                continue
            }
            path += "\(isDrawing ? "L" : "M")\(x(place)) \(y(value))"
            isDrawing = true
        }
        return path
    }

    var line: String { path(\.value) { !chart.points[$0].isOpen } }
    /// From the last settled day on.
    var openLine: String {
        path(\.value) { place in
            chart.points[place].isOpen || (place + 1 < chart.points.count && chart.points[place + 1].isOpen)
        }
    }
    var compared: String { path(\.compared) }

    private func marks(_ value: (Chart.Point) -> Double?, where isDrawn: (Chart.Point) -> Bool) -> String {
        chart.points.enumerated().compactMap { place, point in
            isDrawn(point) ? value(point).map { "M\(x(place)) \(y($0))h0" } : nil
        }.joined()
    }

    var dots: String { chart.points.count > 62 ? "" : marks(\.value) { !$0.isOpen } }
    var openDots: String { marks(\.value) { $0.isOpen } }
    var told: String {
        chart.points.enumerated().compactMap { place, point in
            point.told.map { "M\(x(place) - min(width / 2, 9)) \(y($0))h\(min(width, 18))" }
        }.joined()
    }

    /// Bands, one for each stretch of days that have a usual range.
    var usual: String {
        var (path, stretch) = ("", [Int]())
        func close() {
            guard !stretch.isEmpty else { return }
            let ends = stretch.map { (start($0), start($0) + width, chart.points[$0].usual ?? 0...0) }
            path +=
                "M" + ends.map { "\($0.0) \(y($0.2.upperBound))L\($0.1) \(y($0.2.upperBound))" }.joined(separator: "L")
            path +=
                "L"
                + ends.reversed().map { "\($0.1) \(y($0.2.lowerBound))L\($0.0) \(y($0.2.lowerBound))" }
                .joined(separator: "L") + "Z"
            stretch = []
        }
        for place in chart.points.indices {
            if chart.points[place].usual == nil { close() } else { stretch.append(place) }
        }
        close()
        return path
    }

    /// The first day, the last, and one between.
    var labels: [(place: Int, at: String, anchor: String)] {
        let last = chart.points.count - 1
        guard last >= 0 else { return [] }
        guard last > 0 else { return [(0, "50%", "middle")] }
        let ends = [(0, "0", "start"), (last, "100%", "end")]
        return last >= 4 ? ends + [(last / 2, "50%", "middle")] : ends
    }
}
