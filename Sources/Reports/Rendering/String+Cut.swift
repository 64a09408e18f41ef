extension String {
    /// What is kept of a text that is too wide.
    enum Keeping {
        case beginning, bothEnds
    }

    /// No wider than `width` columns: what does not fit gives way to `…`.
    func cut(to width: Int, keeping: Keeping) -> String {
        guard displayWidth > width else { return self }
        guard width > 0 else { return "" }
        let tail = keeping == .bothEnds ? ending(within: (width - 1) / 3) : ""
        return beginning(within: width - 1 - tail.displayWidth) + "…" + tail
    }

    private func beginning(within width: Int) -> String {
        var rest = width
        return String(
            prefix { character in
                rest -= String(character).displayWidth
                return rest >= 0
            })
    }

    private func ending(within width: Int) -> String {
        var rest = width
        return String(
            reversed().prefix { character in
                rest -= String(character).displayWidth
                return rest >= 0
            }.reversed())
    }
}
