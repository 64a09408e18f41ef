internal import ServiceRuntime

/// A share drawn with blocks, to an eighth of a column.
enum Bar {
    /// No wider than `width`. What is not nothing can be seen, and what is not all does not look so.
    static func blocks(_ share: Double, width: Int) -> String {
        guard share > 0, width > 0 else { return "" }
        let eighths = width * 8
        let filled =
            share >= 1 ? eighths : min(max(Int(saturating: (share * Double(eighths)).rounded()), 1), eighths - 1)
        let part = filled % 8
        return String(repeating: "█", count: filled / 8) + (part == 0 ? "" : String(parts[part - 1]))
    }

    private static let parts: [Character] = ["▏", "▎", "▍", "▌", "▋", "▊", "▉"]
}
