public import Foundation

extension Bellwether {
    /// Receives the callbacks of a story player that does not say which notification they belong to.
    ///
    /// Give it the notification before the player gets it, because the first callbacks come from within the player's
    /// `didReceive(_:)`. Keep the adapter in a property, because players hold their delegates weakly. If a second
    /// notification comes while the first is shown, do the same: later callbacks belong to the second one.
    ///
    /// ```swift
    /// class NotificationViewController: PushwooshStoriesViewController {
    ///     let stories = StoryListener(Bellwether.StoryAdapter(bellwether))
    ///
    ///     override func didReceive(_ notification: UNNotification) {
    ///         stories.adapter.willShow(notification, loops: loopsAfterLastPage)
    ///         storiesDelegate = stories
    ///         super.didReceive(notification)
    ///     }
    /// }
    /// ```
    public final class StoryAdapter: Sendable {
        let bellwether: Bellwether
        private let story = Guarded<Story?>(nil)

        /// Creates an adapter without a notification.
        public init(_ bellwether: Bellwether) { self.bellwether = bellwether }

        /// Call it just before the player gets a notification.
        ///
        /// - Parameters:
        ///   - push: The notification.
        ///   - loops: Whether the player starts again after the last page.
        public func willShow(_ push: Push, loops: Bool? = nil) {
            let next = bellwether.story(of: push, loops: loops)
            story.withLock { $0 = next }
        }

        /// The player began to play this many pages.
        public func didStart(pageCount: Int) { tell { $0.started(pageCount: pageCount) } }

        /// The player showed a page.
        public func didShowPage(at index: Int) { tell { $0.pageShown(at: index) } }

        /// Somebody tapped a page's button.
        public func didTapAction(at index: Int, link: URL?) { tell { $0.actionTapped(at: index, link: link) } }

        /// The last page reached its end.
        public func didFinish() { tell { $0.finished() } }

        /// The player could not play the story.
        public func didShowFallback() { tell { $0.fallbackShown() } }

        private func tell(_ callback: (Story) -> Void) {
            guard let story = story.withLock({ $0 }) else {
                return bellwether.report(
                    .misused, "A story's callback came before its notification: call willShow before super.didReceive.")
            }
            callback(story)
        }
    }

    /// Creates the story of a notification that is about to be played.
    ///
    /// - Parameters:
    ///   - push: The notification.
    ///   - loops: Whether the player starts again after the last page.
    public func story(of push: Push, loops: Bool? = nil) -> Story { Story(self, push, loops: loops) }
}
