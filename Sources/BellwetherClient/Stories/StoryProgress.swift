internal import Foundation

/// Where a story stands, from what its player called back: enough to tell why a page came up.
///
/// The player calls before the page's picture is loaded; again when somebody goes back, or taps the left of the first
/// page; and from the first page on when it loops, without starting anew. It says it has finished each time the last
/// page has run out. Each of these is an event: what is counted once and what twice is the service's affair.
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

    // Callbacks of one turn of the main thread come within a moment; no finger is as fast.
    private static let atOnce = 0.05
    // Timers fire late, and sometimes a hair early.
    private static let early = 0.02

    init(pages: [StoryPage], loops: Bool?) {
        self.pages = pages
        self.loops = loops
    }

    /// The page as the payload declares it, if that is the story that is played.
    func page(at index: Int) -> StoryPage? {
        guard pages.indices.contains(index), pageCount == nil || pageCount == pages.count else { return nil }
        return pages[index]
    }

    /// Counts an event; false when there are so many that the service counts no more.
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

    /// A page came up; tells why, where that can be told.
    mutating func show(_ index: Int, at now: TimeInterval) -> Cause? {
        defer {
            current = (index, now)
            finishedAt = nil
        }
        guard let current else { return .initial }
        let hasJustFinished = finishedAt.map { now - $0 < StoryProgress.atOnce } ?? false
        let goesRound = index == 0 && isLast(current.index)
        if goesRound, hasJustFinished || current.index > 1 { return .loop }
        // From the last of one or two pages to the first: a tap on the left went back, or one on the right went round.
        if goesRound, loops == true { return nil }
        if index == current.index + 1 {
            guard let declared = page(at: current.index)?.duration else { return nil }
            return now - current.since >= Double(declared) / 1000 - StoryProgress.early ? .auto : .next
        }
        return index == max(0, current.index - 1) ? .prev : nil
    }

    private func isLast(_ index: Int) -> Bool { index + 1 == pageCount ?? pages.count }
}
