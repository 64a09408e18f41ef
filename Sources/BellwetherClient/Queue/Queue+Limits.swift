extension Queue.Limits {
    /// What a developer asked for, within what makes sense: a segment at least, a century at most.
    init(mostBytes: Int, mostDays: Int) {
        self.init()
        bytes = max(mostBytes, segment)
        age = Int64(min(max(mostDays, 0), 36_500)) * 86_400_000
    }
}
