// What the library touches of Apple's framework, declared as its documentation has it, for type-checking elsewhere.
import UserNotifications

public enum UNNotificationContentExtensionResponseOption: UInt, Sendable {
    case doNotDismiss = 0
    case dismiss = 1
    case dismissAndForwardAction = 2
}

@MainActor public protocol UNNotificationContentExtension: NSObjectProtocol {
    func didReceive(_ notification: UNNotification)
    func didReceive(
        _ response: UNNotificationResponse,
        completionHandler completion: @escaping (UNNotificationContentExtensionResponseOption) -> Void)
}

extension UNNotificationContentExtension {
    public func didReceive(
        _ response: UNNotificationResponse,
        completionHandler completion: @escaping (UNNotificationContentExtensionResponseOption) -> Void
    ) {}
}
