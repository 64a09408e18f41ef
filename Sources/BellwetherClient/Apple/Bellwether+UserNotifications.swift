#if canImport(UserNotifications) && !os(tvOS)
public import Foundation
public import UserNotifications

extension Bellwether {
    /// Reads a notification from the system.
    public func push(of notification: UNNotification) -> Push {
        push(of: notification.request, deliveredAt: notification.date)
    }

    /// Reads a notification request from the system.
    public func push(of request: UNNotificationRequest, deliveredAt: Date? = nil) -> Push {
        push(of: request, shownAs: request.content, deliveredAt: deliveredAt)
    }

    func push(
        of request: UNNotificationRequest, shownAs content: UNNotificationContent, deliveredAt: Date? = nil
    ) -> Push {
        let payload = request.content.userInfo
        let origin = Origin(
            isPushTrigger: request.trigger is UNPushNotificationTrigger, hasTrigger: request.trigger != nil,
            payload: payload)
        return push(
            payload,
            request: Request(
                identifier: request.identifier, category: content.categoryIdentifier,
                thread: content.threadIdentifier, origin: origin, deliveredAt: deliveredAt,
                showsText: !(content.title.isEmpty && content.subtitle.isEmpty && content.body.isEmpty)))
    }

    /// Makes the app's categories known. Call it where you pass them to the notification centre, with the same
    /// categories.
    ///
    /// ```swift
    /// UNUserNotificationCenter.current().setNotificationCategories(categories)
    /// bellwether.register(categories)
    /// ```
    public func register(_ categories: Set<UNNotificationCategory>) {
        register(categories.map { Category($0) })
    }
}

extension Bellwether.Category {
    init(_ category: UNNotificationCategory) {
        self.init(
            id: category.identifier,
            buttons: category.actions.map { action in
                Bellwether.Button(
                    id: action.identifier, opensApp: action.options.contains(.foreground),
                    isDestructive: action.options.contains(.destructive),
                    requiresAuthentication: action.options.contains(.authenticationRequired),
                    asksForText: action is UNTextInputNotificationAction)
            })
    }
}

extension Bellwether.StoryAdapter {
    /// Call it just before the player gets a notification, that is, before `super.didReceive(_:)`.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - loops: Whether the player starts again after the last page.
    public func willShow(_ notification: UNNotification, loops: Bool? = nil) {
        willShow(bellwether.push(of: notification), loops: loops)
    }
}
#endif
