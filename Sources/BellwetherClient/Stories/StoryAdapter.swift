public import Foundation

extension Bellwether {
    /// Takes what a player of stories calls back, which does not say of which notification.
    ///
    /// Hand it the notification before the player gets it: the first callbacks come from within the player's
    /// `didReceive(_:)`. Keep it in a property, as players hold their delegates weakly. When a second notification comes
    /// while the first is shown, hand it over in the same way: what is called back from then on is the second one's.
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

        /// An adapter that has seen no notification.
        public init(_ bellwether: Bellwether) { self.bellwether = bellwether }

        /// A notification is about to be handed to the player.
        ///
        /// - Parameters:
        ///   - push: The notification.
        ///   - loops: Whether the player begins anew after the last page.
        public func willShow(_ push: Push, loops: Bool? = nil) {
            let next = bellwether.story(of: push, loops: loops)
            story.withLock { $0 = next }
        }

        /// The player began to play so many pages.
        public func didStart(pageCount: Int) { tell { $0.started(pageCount: pageCount) } }

        /// The player showed a page.
        public func didShowPage(at index: Int) { tell { $0.pageShown(at: index) } }

        /// Somebody tapped a page's button.
        public func didTapAction(at index: Int, link: URL?) { tell { $0.actionTapped(at: index, link: link) } }

        /// The last page has run out.
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

    /// A story of a notification, which is about to be played.
    ///
    /// - Parameters:
    ///   - push: The notification.
    ///   - loops: Whether the player begins anew after the last page.
    public func story(of push: Push, loops: Bool? = nil) -> Story { Story(self, push, loops: loops) }
}
