#if canImport(UserNotifications) && !os(tvOS)
public import UserNotifications

extension Bellwether.StoryAdapter {
    /// A notification is about to be handed to the player: call it before `super.didReceive(_:)`.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - loops: Whether the player begins anew after the last page.
    public func willShow(_ notification: UNNotification, loops: Bool? = nil) {
        willShow(bellwether.push(of: notification), loops: loops)
    }
}
#endif
