// What the library touches of Apple's framework, for type-checking elsewhere.
// Compared with Apple's own, name by name (`Signatures.swift`), with the SDK of iOS 17.0; up to the headers of iOS 26.5
// nothing of this changed.
@_exported import Foundation

open class UNNotificationTrigger: NSObject {}
open class UNPushNotificationTrigger: UNNotificationTrigger {}
open class UNNotificationAttachment: NSObject {
    open var identifier: String { fatalError() }
    open var url: URL { fatalError() }
    open var type: String { fatalError() }
}

public enum UNNotificationInterruptionLevel: UInt, Sendable {
    case passive, active, timeSensitive, critical
}

open class UNNotificationContent: NSObject {
    open var interruptionLevel: UNNotificationInterruptionLevel { fatalError() }
    open var relevanceScore: Double { fatalError() }
    open var targetContentIdentifier: String? { fatalError() }
    @available(*, deprecated) open var summaryArgument: String { fatalError() }
    @available(*, deprecated) open var summaryArgumentCount: Int { fatalError() }
    open var attachments: [UNNotificationAttachment] { fatalError() }
    open var body: String { fatalError() }
    open var categoryIdentifier: String { fatalError() }
    open var subtitle: String { fatalError() }
    open var threadIdentifier: String { fatalError() }
    open var title: String { fatalError() }
    open var userInfo: [AnyHashable: Any] { fatalError() }
}
open class UNMutableNotificationContent: UNNotificationContent {}

open class UNNotificationRequest: NSObject {
    open var identifier: String { fatalError() }
    open var content: UNNotificationContent { fatalError() }
    open var trigger: UNNotificationTrigger? { fatalError() }
}

open class UNNotification: NSObject {
    open var date: Date { fatalError() }
    open var request: UNNotificationRequest { fatalError() }
}

open class UNNotificationResponse: NSObject {
    open var notification: UNNotification { fatalError() }
    open var actionIdentifier: String { fatalError() }
}
open class UNTextInputNotificationResponse: UNNotificationResponse {
    open var userText: String { fatalError() }
}

public struct UNNotificationActionOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let authenticationRequired = UNNotificationActionOptions(rawValue: 1 << 0)
    public static let destructive = UNNotificationActionOptions(rawValue: 1 << 1)
    public static let foreground = UNNotificationActionOptions(rawValue: 1 << 2)
}

open class UNNotificationAction: NSObject {
    open var identifier: String { fatalError() }
    open var title: String { fatalError() }
    open var options: UNNotificationActionOptions { fatalError() }
}
open class UNTextInputNotificationAction: UNNotificationAction {}

open class UNNotificationCategory: NSObject {
    open var identifier: String { fatalError() }
    open var actions: [UNNotificationAction] { fatalError() }
}

public struct UNNotificationPresentationOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let badge = UNNotificationPresentationOptions(rawValue: 1 << 0)
    public static let sound = UNNotificationPresentationOptions(rawValue: 1 << 1)
    public static let list = UNNotificationPresentationOptions(rawValue: 1 << 3)
    public static let banner = UNNotificationPresentationOptions(rawValue: 1 << 4)
}

/// All of it is optional in Objective-C: here, an extension stands for what is left out.
public protocol UNUserNotificationCenterDelegate: NSObjectProtocol {
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping @Sendable (UNNotificationPresentationOptions) -> Void)
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping @Sendable () -> Void)
    /// Not on watchOS and tvOS.
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, openSettingsFor notification: UNNotification?)
}
extension UNUserNotificationCenterDelegate {
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping @Sendable (UNNotificationPresentationOptions) -> Void
    ) {}
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping @Sendable () -> Void
    ) {}
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, openSettingsFor notification: UNNotification?
    ) {}
}

public enum UNAuthorizationStatus: Int, Sendable {
    case notDetermined, denied, authorized, provisional, ephemeral
}
public enum UNShowPreviewsSetting: Int, Sendable {
    case always, whenAuthenticated, never
}
public enum UNNotificationSetting: Int, Sendable {
    case notSupported, disabled, enabled
}
/// Not on tvOS: all but the status and the badges. Not on watchOS: previews, badges, the lock screen.
open class UNNotificationSettings: NSObject {
    open var authorizationStatus: UNAuthorizationStatus { fatalError() }
    open var showPreviewsSetting: UNShowPreviewsSetting { fatalError() }
    open var alertSetting: UNNotificationSetting { fatalError() }
    open var lockScreenSetting: UNNotificationSetting { fatalError() }
    open var notificationCenterSetting: UNNotificationSetting { fatalError() }
    open var soundSetting: UNNotificationSetting { fatalError() }
    open var badgeSetting: UNNotificationSetting { fatalError() }
    open var timeSensitiveSetting: UNNotificationSetting { fatalError() }
    open var scheduledDeliverySetting: UNNotificationSetting { fatalError() }
}

public struct UNAuthorizationOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let badge = UNAuthorizationOptions(rawValue: 1 << 0)
    public static let sound = UNAuthorizationOptions(rawValue: 1 << 1)
    public static let alert = UNAuthorizationOptions(rawValue: 1 << 2)
    public static let providesAppNotificationSettings = UNAuthorizationOptions(rawValue: 1 << 5)
}

open class UNUserNotificationCenter: NSObject {
    open func getNotificationSettings(completionHandler: @escaping @Sendable (UNNotificationSettings) -> Void) {}
    open func requestAuthorization(
        options: UNAuthorizationOptions = [],
        completionHandler: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {}
    open func getNotificationCategories(
        completionHandler: @escaping @Sendable (Set<UNNotificationCategory>) -> Void
    ) {}
    open class func current() -> UNUserNotificationCenter { fatalError() }
    open weak var delegate: (any UNUserNotificationCenterDelegate)?
    open func setNotificationCategories(_ categories: Set<UNNotificationCategory>) {}
    open func getDeliveredNotifications(completionHandler: @escaping @Sendable ([UNNotification]) -> Void) {}
}

open class UNNotificationServiceExtension: NSObject {
    open func didReceive(
        _ request: UNNotificationRequest,
        withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {}
    open func serviceExtensionTimeWillExpire() {}
}

extension FileManager {
    public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? { fatalError() }
}

/// Of Darwin, as `sys/fcntl.h` has it.
public let F_BARRIERFSYNC: Int32 = 85
