public import Foundation

extension Bellwether {
    /// A story that a notification's content extension plays: its pages, and how people use them.
    ///
    /// Create one with ``Bellwether/story(of:loops:)`` when the extension gets the notification, and forward the
    /// player's callbacks. Forward all of them, even repeated ones: the service handles repeats.
    ///
    /// ```swift
    /// let story = bellwether.story(of: push)
    /// story.started(pageCount: 3)
    /// story.pageShown(at: 0)
    /// story.actionTapped(at: 0, link: URL(string: "shop://sale"))
    /// ```
    public final class Story: Sendable {
        private let bellwether: Bellwether
        private let push: Push
        private let loops: Bool?
        private let progress: Guarded<StoryProgress>

        init(_ bellwether: Bellwether, _ push: Push, loops: Bool?) {
            self.bellwether = bellwether
            self.push = push
            self.loops = loops
            progress = Guarded(StoryProgress(pages: push.story.pages, loops: loops))
        }

        /// Records that the story began to play.
        ///
        /// - Parameter pageCount: The number of pages that will be shown, at least 1.
        public func started(pageCount: Int) {
            guard Bounds.pageCount.contains(pageCount) else {
                return bellwether.report(
                    .misused, "A story of \(pageCount) pages was not recorded: it needs 1 to 1000.")
            }
            var members: [JSONValue.Field] = []
            members.add("page_count", pageCount)
            if push.story.pages.count == pageCount {
                members.add(
                    "declared_page_count", push.story.declared.map { min($0, Bounds.declaredPageCount.upperBound) })
            }
            members.add("loops", loops)
            record(.storyStarted, members) { $0.start(pageCount: pageCount) }
        }

        /// Records that a page appeared. Pages are counted from 0 in the order in which they are shown.
        public func pageShown(at index: Int) {
            guard isPage(index) else { return }
            let now = bellwether.clock.uptime()
            let (cause, duration) = progress.withLock { ($0.show(index, at: now), $0.page(at: index)?.duration) }
            var members: [JSONValue.Field] = []
            members.add("page_index", index)
            members.add("declared_ms", duration)
            members.add("cause", cause?.rawValue)
            record(.pageShown, members)
        }

        /// Records that somebody tapped the button of a page. A tap on the page itself only turns it.
        ///
        /// - Parameters:
        ///   - index: The page, counted from 0 in the order in which pages are shown.
        ///   - link: The button's target. Only its scheme and host are recorded. If you leave it out, the link in the
        ///     payload is used.
        public func actionTapped(at index: Int, link: URL? = nil) {
            guard isPage(index) else { return }
            let declared = progress.withLock { $0.page(at: index) }
            let parts = link.map(StoryPage.parts(of:)) ?? (scheme: declared?.linkScheme, host: declared?.linkHost)
            var members: [JSONValue.Field] = []
            members.add("page_index", index)
            members.add("link_scheme", parts.scheme)
            members.add("link_host", parts.host)
            record(.storyActionTapped, members)
        }

        /// Records that the last page reached its end.
        public func finished() {
            let now = bellwether.clock.uptime()
            record(.storyFinished) { $0.finish(at: now) }
        }

        /// Records that the story could not be played, and something else was shown.
        ///
        /// - Parameter reason: The reason. If you leave it out, it is inferred from the payload.
        public func fallbackShown(reason: FallbackReason? = nil) {
            var members: [JSONValue.Field] = []
            members.add("reason", (reason ?? push.story.fault ?? .unknown).rawValue)
            record(.fallbackShown, members)
        }

        private func isPage(_ index: Int) -> Bool {
            if Bounds.pageIndex.contains(index) { return true }
            bellwether.report(.misused, "Page \(index) of a story was not recorded: pages are counted from 0 to 999.")
            return false
        }

        private func record(
            _ type: EventType, _ members: [JSONValue.Field] = [],
            _ change: @Sendable (inout StoryProgress) -> Void = { _ in }
        ) {
            let isCounted = progress.withLock { progress in
                change(&progress)
                return progress.mayRecord()
            }
            guard isCounted else { return }
            bellwether.record(type, of: push, members)
            // Nobody may open the app for days. Pages come every few seconds, and go with what ends the story.
            if type != .storyStarted, type != .pageShown { bellwether.flushInExtension() }
        }
    }

    /// Why a story could not be played.
    public enum FallbackReason: String, Sendable {
        /// The payload has no story.
        case missing
        /// It has one, but it is not a valid story.
        case malformed
        /// None of its pages can be shown.
        case noValidPage = "no_valid_page"
        /// Nobody can tell.
        case unknown
    }
}
