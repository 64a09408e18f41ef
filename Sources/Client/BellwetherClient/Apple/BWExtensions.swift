#if canImport(ObjectiveC) && canImport(UserNotifications) && !os(tvOS)
public import Foundation
public import UserNotifications

/// A notification in a service extension, for Objective-C (``Bellwether/ServiceReceipt``).
@objc(BWServiceReceipt)
public final class BWServiceReceipt: NSObject, Sendable {
    private let receipt: Bellwether.ServiceReceipt

    init(_ receipt: Bellwether.ServiceReceipt) { self.receipt = receipt }

    /// Records the receipt and hands the content to the system.
    @objc(deliverContent:)
    public func deliver(_ content: UNNotificationContent?) { receipt.deliver(content) }

    /// Says what became of the media, in the words of the event catalogue: outcome `attached`, `prefetched`,
    /// `timed_out`, `failed`, `skipped` or `none`; kind and reason may be nil. Returns false, and changes nothing, if a
    /// word is none of these.
    @objc(tellOutcome:kind:reason:)
    @discardableResult
    public func tell(outcome: String, kind: String?, reason: String?) -> Bool {
        guard let media = Bellwether.Media(outcome: outcome, kind: kind, reason: reason) else { return false }
        receipt.tell(media)
        return true
    }

    /// Does the same when the extension's time has run out.
    @objc(timeWillExpire)
    public func timeWillExpire() { receipt.timeWillExpire() }
}

/// A story that a content extension plays, for Objective-C (``Bellwether/Story``).
@objc(BWStory)
public final class BWStory: NSObject, Sendable {
    private let story: Bellwether.Story

    init(_ story: Bellwether.Story) { self.story = story }

    /// Records that the story began to play.
    @objc(startedWithPageCount:)
    public func started(pageCount: Int) { story.started(pageCount: pageCount) }

    /// Records that a page appeared.
    @objc(pageShownAtIndex:)
    public func pageShown(at index: Int) { story.pageShown(at: index) }

    /// Records that somebody tapped the button of a page.
    @objc(actionTappedAtIndex:link:)
    public func actionTapped(at index: Int, link: URL?) { story.actionTapped(at: index, link: link) }

    /// Records that the last page reached its end.
    @objc(finished)
    public func finished() { story.finished() }

    /// Records that the story could not be played.
    @objc(fallbackShown)
    public func fallbackShown() { story.fallbackShown() }
}

extension BWBellwether {
    /// Starts the receipt of a notification in the service extension.
    @objc(receiptOfRequest:contentHandler:)
    public func receipt(
        of request: UNNotificationRequest, contentHandler: @escaping (UNNotificationContent) -> Void
    ) -> BWServiceReceipt {
        BWServiceReceipt(bellwether.receipt(of: request, contentHandler))
    }

    /// The story of a notification, and whether it starts again after its last page.
    @objc(storyOfNotification:loops:)
    public func story(of notification: UNNotification, loops: Bool) -> BWStory {
        BWStory(bellwether.story(of: bellwether.push(of: notification), loops: loops))
    }

    /// Records that the content extension shows a notification.
    @objc(contentExtensionShowed:)
    public func contentExtension(showed notification: UNNotification) {
        bellwether.contentExtension(showed: bellwether.push(of: notification))
    }
}

#if canImport(UserNotificationsUI) && !os(tvOS) && !os(watchOS)
public import UserNotificationsUI

extension BWBellwether {
    /// Records that somebody responded in the content extension. Returns the same option.
    @objc(contentExtensionAnswered:withOption:)
    @discardableResult
    public func contentExtension(
        answered response: UNNotificationResponse, with option: UNNotificationContentExtensionResponseOption
    ) -> UNNotificationContentExtensionResponseOption {
        bellwether.contentExtension(answered: response, with: option)
    }
}
#endif
#endif
