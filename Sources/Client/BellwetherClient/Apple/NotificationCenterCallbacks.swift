#if canImport(UserNotifications) && !os(tvOS)
public import UserNotifications

/// Calls for the delegate of the notification centre.
extension Bellwether {
    /// Records a notification that came while the app is in front. Call it from the delegate's `willPresent`, and pass
    /// its result to the completion handler. Use the variant with the completion handler: the `async` one calls UIKit
    /// from another thread, which stops the app.
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
    ///   - options: How the app shows it. An empty set means that nobody sees it.
    /// - Returns: The same options.
    @discardableResult
    public func willPresent(
        _ notification: UNNotification, with options: UNNotificationPresentationOptions
    ) -> UNNotificationPresentationOptions {
        received(push(of: notification), .foreground(presentation: Presentation.set(rawValue: options.rawValue)))
        return options
    }

    /// Records that somebody responded to a notification. Call it from the delegate's `didReceive`. It never reads
    /// typed text.
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
    ///   - response: The response.
    ///   - launch: The state of the app. If you leave it out, the library uses the state that it observed.
    public func didReceive(_ response: UNNotificationResponse, launch: Launch? = nil) {
        responded(
            to: push(of: response.notification), action: response.actionIdentifier, handledBy: .app, launch: launch,
            as: response)
        flushIfBehind()
    }

    /// The system's settings asked the app to show its own. Call it from the delegate's `openSettingsFor`: the person
    /// is just deciding what notifications may do, so the library reads the settings now, and again when the app comes
    /// to the front.
    ///
    /// ```swift
    /// func userNotificationCenter(_ center: UNUserNotificationCenter, openSettingsFor notification: UNNotification?) {
    ///     bellwether.openSettings(for: notification)
    /// }
    /// ```
    ///
    /// - Parameter notification: The notification from which they came; nil from the system's settings.
    public func openSettings(for notification: UNNotification?) {
        readSettings()
        flushIfBehind()
    }

    /// Records the arrival of all notifications in the notification centre. The library does so whenever the app comes
    /// to the front. It returns at once, and calling it again changes nothing.
    public func sweepDelivered(in center: UNUserNotificationCenter = .current()) {
        center.getDeliveredNotifications { [self] notifications in
            sweep(notifications.map { push(of: $0) })
        }
    }
}
#endif
