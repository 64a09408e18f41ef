/// Where drafts go: the queue on disk.
protocol Recorder: Sendable {
    /// Keeps an event for good before it returns. What goes wrong is told by diagnostics, not to the caller.
    ///
    /// - Returns: whether it is kept.
    func record(_ draft: Draft) -> Bool
}
