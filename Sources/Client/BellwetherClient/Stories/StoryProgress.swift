internal import Foundation

/// How far a story has come, according to its player's callbacks. It is enough to infer why a page appeared.
///
/// The player calls back before the page's picture is loaded. It repeats the call when somebody goes back or taps the
/// left of the first page. When it loops, it continues with the first page without a new start. It reports the finish
/// each time the last page reaches its end. Each callback is an event; the service decides what to count once and what
/// twice.
struct StoryProgress {
    /// Why a page came up.
    enum Cause: String {
        case initial, auto, next, prev, loop
    }

    private let pages: [StoryPage]
    private let loops: Bool?
    private var pageCount: Int?
    private var current: (index: Int, since: TimeInterval)?
    private var finishedAt: TimeInterval?
    private(set) var events = 0

    // Callbacks in one turn of the main thread come almost together; no finger is as fast.
    private static let atOnce = 0.05
    // Timers fire late, and sometimes slightly early.
    private static let early = 0.02

    init(pages: [StoryPage], loops: Bool?) {
        self.pages = pages
        self.loops = loops
    }

    /// The page as the payload declares it; nil if another story is played.
    func page(at index: Int) -> StoryPage? {
        guard pages.indices.contains(index), pageCount == nil || pageCount == pages.count else { return nil }
        return pages[index]
    }

    /// Counts an event; false if the story has more events than the service counts.
    mutating func mayRecord() -> Bool {
        events += 1
        return events <= Bounds.storyEvents
    }

    mutating func start(pageCount: Int) {
        self.pageCount = pageCount
        current = nil
        finishedAt = nil
    }

    mutating func finish(at now: TimeInterval) { finishedAt = now }

    /// Records that a page appeared. Returns the cause, if it is clear.
    mutating func show(_ index: Int, at now: TimeInterval) -> Cause? {
        defer {
            current = (index, now)
            finishedAt = nil
        }
        guard let current else { return .initial }
        let hasJustFinished = finishedAt.map { now - $0 < StoryProgress.atOnce } ?? false
        let goesRound = index == 0 && isLast(current.index)
        if goesRound, hasJustFinished || current.index > 1 { return .loop }
        // From the last of one or two pages to the first: somebody went back with a tap on the left, or forward with a
        // tap on the right.
        if goesRound, loops == true { return nil }
        if index == current.index + 1 {
            guard let declared = page(at: current.index)?.duration else { return nil }
            return now - current.since >= Double(declared) / 1000 - StoryProgress.early ? .auto : .next
        }
        return index == max(0, current.index - 1) ? .prev : nil
    }

    private func isLast(_ index: Int) -> Bool { index + 1 == pageCount ?? pages.count }
}
