#if canImport(UserNotifications) && canImport(UserNotificationsUI)
public import UserNotifications
public import UserNotificationsUI

/// What a content extension passes on.
extension Bellwether {
    /// A notification is shown. Call it from the extension's `didReceive(_:)`, unless it plays a story: that says so itself.
    public func contentExtension(showed notification: UNNotification) { contentExtensionShown(push(of: notification)) }

    /// Somebody answered. Call it where the extension calls back with the option, and with that option: a response that
    /// is forwarded is recorded by the app, any other here.
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
    ///   - response: The answer.
    ///   - option: What the extension calls back with.
    /// - Returns: The same option.
    @discardableResult
    public func contentExtension(
        answered response: UNNotificationResponse, with option: UNNotificationContentExtensionResponseOption
    ) -> UNNotificationContentExtensionResponseOption {
        contentExtension(
            push(of: response.notification), answeredWith: response.actionIdentifier,
            isForwarded: option == .dismissAndForwardAction, as: response)
        return option
    }
}
#endif
