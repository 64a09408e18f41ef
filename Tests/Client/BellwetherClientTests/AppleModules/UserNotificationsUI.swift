// What the library touches of Apple's framework, for type-checking elsewhere.
// Compared with Apple's own, name by name (`Signatures.swift`), with the SDK of iOS 17.0; from its headers to those of
// iOS 26.5 one thing changed, which is said where it is.
import UserNotifications

public enum UNNotificationContentExtensionResponseOption: UInt, Sendable {
    case doNotDismiss = 0
    case dismiss = 1
    case dismissAndForwardAction = 2
}

/// Nonisolated up to iOS 17.0. In iOS 26.5 `didReceive(_:)` alone is on the main actor: code must compile with both.
public protocol UNNotificationContentExtension: NSObjectProtocol {
    func didReceive(_ notification: UNNotification)
    /// Optional in Objective-C: here, an extension stands for it where it is left out.
    func didReceive(
        _ response: UNNotificationResponse,
        completionHandler completion: @escaping @Sendable (UNNotificationContentExtensionResponseOption) -> Void)
}

extension UNNotificationContentExtension {
    public func didReceive(
        _ response: UNNotificationResponse,
        completionHandler completion: @escaping @Sendable (UNNotificationContentExtensionResponseOption) -> Void
    ) {}
}
