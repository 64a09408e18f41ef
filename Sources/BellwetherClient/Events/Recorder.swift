/// Where drafts go: the queue on disk.
protocol Recorder: Sendable {
    /// Keeps an event for good before it returns. What goes wrong is told by diagnostics, not to the caller.
    func record(_ draft: Draft) -> Recorded
}

/// What became of an event that was recorded.
enum Recorded: Sendable {
    /// It is on the disk.
    case kept
    /// It is in memory, and comes to the disk with whatever this process does next, unless it ends before.
    case waiting
    /// It is gone.
    case lost
}
