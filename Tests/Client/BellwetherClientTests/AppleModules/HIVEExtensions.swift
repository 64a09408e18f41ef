// What the guide touches of Hive's SDK for extensions, as its guide shows the calls: there is no public interface to
// compare with.
import Foundation
import UserNotifications
import UserNotificationsUI

public enum HIVENotificationService {
    public static func didReceive(
        _ request: UNNotificationRequest, _ completion: @escaping @Sendable (UNNotificationContent?) -> Void
    ) {}
}

@MainActor public enum HiveNotificationContent {
    public static func didReceive(_ notification: UNNotification) {}
    public static func didReceive(
        _ response: UNNotificationResponse
    ) async -> UNNotificationContentExtensionResponseOption { fatalError() }
}
