// What the guide touches of Pushwoosh's iOS SDK 7.0.46, declared as its documentation has it, for type-checking.
import UIKit
import UserNotifications
import UserNotificationsUI

public struct StoryPage {
    public let link: URL?
}

public protocol PushwooshStoriesDelegate: AnyObject {
    func storiesViewController(_ controller: PushwooshStoriesViewController, didStartWithPageCount pageCount: Int)
    func storiesViewController(_ controller: PushwooshStoriesViewController, didShow page: StoryPage, at index: Int)
    func storiesViewController(
        _ controller: PushwooshStoriesViewController, didTapActionFor page: StoryPage, at index: Int)
    func storiesViewControllerDidFinish(_ controller: PushwooshStoriesViewController)
    func storiesViewControllerDidShowFallback(_ controller: PushwooshStoriesViewController)
}

open class PushwooshStoriesViewController: UIViewController, @MainActor UNNotificationContentExtension {
    public weak var storiesDelegate: (any PushwooshStoriesDelegate)?
    open var loopsAfterLastPage: Bool { false }
    open func didReceive(_ notification: UNNotification) {}
}
