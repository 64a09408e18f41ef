#if canImport(UserNotifications) && canImport(UserNotificationsUI) && !os(tvOS) && !os(watchOS)
public import UserNotifications
public import UserNotificationsUI

/// Calls for a content extension.
extension Bellwether {
    /// Records that the extension shows a notification. Call it from `didReceive(_:)`, unless it plays a story: a story
    /// records this itself.
    public func contentExtension(showed notification: UNNotification) {
        contentExtension(showed: push(of: notification))
    }

    /// Records that somebody responded. Call it where the extension calls the completion handler, and pass the same
    /// option: if the extension forwards the response, the app records it; otherwise this call does.
    ///
    /// ```swift
    /// func didReceive(
    ///     _ response: UNNotificationResponse,
    ///     completionHandler completion: @escaping (UNNotificationContentExtensionResponseOption) -> Void
    /// ) {
    ///     completion(bellwether.contentExtension(answered: response, with: .dismiss))
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - option: The option that the extension passes to its completion handler.
    /// - Returns: The same option.
    @discardableResult
    public func contentExtension(
        answered response: UNNotificationResponse, with option: UNNotificationContentExtensionResponseOption
    ) -> UNNotificationContentExtensionResponseOption {
        contentExtension(
            push(of: response.notification), answeredWith: response.actionIdentifier,
            isForwarded: option == .dismissAndForwardAction, as: response)
        flushInExtension()
        return option
    }
}
#endif
