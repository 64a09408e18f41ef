#if canImport(UserNotifications) && !os(tvOS)
public import UserNotifications

/// What the delegate of the notification centre passes on.
extension Bellwether {
    /// A notification came while the app is in front. Call it from the delegate's `willPresent`, and give the completion
    /// handler what it gives. Take the form with the handler: the `async` one calls UIKit back from another thread, where
    /// it stops the app.
    ///
    /// ```swift
    /// func userNotificationCenter(
    ///     _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
    ///     withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    /// ) {
    ///     completionHandler(bellwether.willPresent(notification, with: [.banner, .list, .sound]))
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - options: How it will be shown; none of them means: to nobody.
    /// - Returns: The same options.
    @discardableResult
    public func willPresent(
        _ notification: UNNotification, with options: UNNotificationPresentationOptions
    ) -> UNNotificationPresentationOptions {
        received(push(of: notification), .foreground(presentation: Presentation.set(rawValue: options.rawValue)))
        return options
    }

    /// Somebody answered a notification. Call it from the delegate's `didReceive`. A text that was typed stays unread.
    ///
    /// ```swift
    /// func userNotificationCenter(
    ///     _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
    ///     withCompletionHandler completionHandler: @escaping () -> Void
    /// ) {
    ///     bellwether.didReceive(response)
    ///     completionHandler()
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - response: The answer.
    ///   - launch: In what state the app was; without it, what the library has seen of that.
    public func didReceive(_ response: UNNotificationResponse, launch: Launch? = nil) {
        responded(
            to: push(of: response.notification), action: response.actionIdentifier, handledBy: .app, launch: launch,
            as: response)
    }

    /// Records that the notifications have arrived that lie in the notification centre. Call it when the app starts and
    /// when it comes to the front; it returns at once, and repeating it changes nothing.
    public func sweepDelivered(in center: UNUserNotificationCenter = .current()) {
        center.getDeliveredNotifications { [self] notifications in
            sweep(notifications.map { push(of: $0) })
        }
    }
}
#endif
