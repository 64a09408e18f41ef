// What the library and its guide take from Apple's frameworks, each with the type that it has there. It compiles
// against the declarations beside it, as the tests see to, and against Apple's own SDKs: so the two agree, name by
// name, in types, optionality, raw values and Sendable. What stands outside the main actor here is outside it there.
import Network
import SwiftUI
import UIKit
import UserNotifications
import UserNotificationsUI

private func has<Root, Value>(_ path: KeyPath<Root, Value>, _: Value.Type) {}
private func isSendable<Value: Sendable>(_: Value.Type) {}
private func isRaw<Value: RawRepresentable>(_: Value.Type, _: Value.RawValue.Type) {}
private func takes<Function>(_: Function, _: Function.Type) {}

func notifications(
    _ content: UNNotificationContent, _ response: UNNotificationResponse, _ center: UNUserNotificationCenter
) {
    has(\UNNotificationContent.interruptionLevel, UNNotificationInterruptionLevel.self)
    has(\UNNotificationContent.relevanceScore, Double.self)
    has(\UNNotificationContent.targetContentIdentifier, String?.self)
    has(\UNNotificationContent.attachments, [UNNotificationAttachment].self)
    has(\UNNotificationContent.title, String.self)
    has(\UNNotificationContent.subtitle, String.self)
    has(\UNNotificationContent.body, String.self)
    has(\UNNotificationContent.categoryIdentifier, String.self)
    has(\UNNotificationContent.threadIdentifier, String.self)
    has(\UNNotificationContent.userInfo, [AnyHashable: Any].self)
    has(\UNNotificationAttachment.identifier, String.self)
    has(\UNNotificationAttachment.url, URL.self)
    has(\UNNotificationAttachment.type, String.self)
    has(\UNNotificationRequest.identifier, String.self)
    has(\UNNotificationRequest.content, UNNotificationContent.self)
    has(\UNNotificationRequest.trigger, UNNotificationTrigger?.self)
    has(\UNNotification.date, Date.self)
    has(\UNNotification.request, UNNotificationRequest.self)
    has(\UNNotificationResponse.notification, UNNotification.self)
    has(\UNNotificationResponse.actionIdentifier, String.self)
    has(\UNTextInputNotificationResponse.userText, String.self)
    has(\UNNotificationAction.identifier, String.self)
    has(\UNNotificationAction.title, String.self)
    has(\UNNotificationAction.options, UNNotificationActionOptions.self)
    has(\UNNotificationCategory.identifier, String.self)
    has(\UNNotificationCategory.actions, [UNNotificationAction].self)
    has(\UNUserNotificationCenter.delegate, (any UNUserNotificationCenterDelegate)?.self)
    let inherited: [UNNotificationTrigger.Type] = [UNPushNotificationTrigger.self]
    let texts: [UNNotificationAction.Type] = [UNTextInputNotificationAction.self]
    let mutable: UNNotificationContent.Type = UNMutableNotificationContent.self
    _ = (inherited, texts, mutable)

    takes(UNUserNotificationCenter.current, (() -> UNUserNotificationCenter).self)
    takes(center.setNotificationCategories, ((Set<UNNotificationCategory>) -> Void).self)
    takes(center.getNotificationCategories, ((@escaping @Sendable (Set<UNNotificationCategory>) -> Void) -> Void).self)
    takes(center.getDeliveredNotifications, ((@escaping @Sendable ([UNNotification]) -> Void) -> Void).self)
    takes(center.getNotificationSettings, ((@escaping @Sendable (UNNotificationSettings) -> Void) -> Void).self)
    takes(
        center.requestAuthorization(options:completionHandler:),
        ((UNAuthorizationOptions, @escaping @Sendable (Bool, (any Error)?) -> Void) -> Void).self)
}

func settings() {
    has(\UNNotificationSettings.authorizationStatus, UNAuthorizationStatus.self)
    has(\UNNotificationSettings.showPreviewsSetting, UNShowPreviewsSetting.self)
    has(\UNNotificationSettings.alertSetting, UNNotificationSetting.self)
    has(\UNNotificationSettings.lockScreenSetting, UNNotificationSetting.self)
    has(\UNNotificationSettings.notificationCenterSetting, UNNotificationSetting.self)
    has(\UNNotificationSettings.soundSetting, UNNotificationSetting.self)
    has(\UNNotificationSettings.badgeSetting, UNNotificationSetting.self)
    has(\UNNotificationSettings.timeSensitiveSetting, UNNotificationSetting.self)
    has(\UNNotificationSettings.scheduledDeliverySetting, UNNotificationSetting.self)
}

func values() {
    isRaw(UNNotificationInterruptionLevel.self, UInt.self)
    isRaw(UNNotificationActionOptions.self, UInt.self)
    isRaw(UNNotificationPresentationOptions.self, UInt.self)
    isRaw(UNAuthorizationOptions.self, UInt.self)
    isRaw(UNAuthorizationStatus.self, Int.self)
    isRaw(UNShowPreviewsSetting.self, Int.self)
    isRaw(UNNotificationSetting.self, Int.self)
    isRaw(UNNotificationContentExtensionResponseOption.self, UInt.self)
    isRaw(UIBackgroundFetchResult.self, UInt.self)
    isSendable(UNNotificationInterruptionLevel.self)
    isSendable(UNNotificationActionOptions.self)
    isSendable(UNNotificationPresentationOptions.self)
    isSendable(UNAuthorizationOptions.self)
    isSendable(UNAuthorizationStatus.self)
    isSendable(UNShowPreviewsSetting.self)
    isSendable(UNNotificationSetting.self)
    isSendable(UNNotificationContentExtensionResponseOption.self)
    isSendable(UIBackgroundFetchResult.self)
    isSendable(UIApplication.LaunchOptionsKey.self)
    isSendable(UISceneSession.Role.self)
    isSendable(NWPath.self)
    isSendable(NWPath.Status.self)
    isSendable(NWInterface.InterfaceType.self)
    _ = [UNNotificationInterruptionLevel.passive, .active, .timeSensitive, .critical]
    _ = [UNAuthorizationStatus.notDetermined, .denied, .authorized, .provisional, .ephemeral]
    _ = [UNShowPreviewsSetting.always, .whenAuthenticated, .never]
    _ = [UNNotificationSetting.notSupported, .disabled, .enabled]
    _ = [UNNotificationContentExtensionResponseOption.doNotDismiss, .dismiss, .dismissAndForwardAction]
    _ = [UIBackgroundFetchResult.newData, .noData, .failed]
    _ = [NWPath.Status.satisfied, .unsatisfied, .requiresConnection]
    _ = [NWInterface.InterfaceType.other, .wifi, .cellular, .wiredEthernet, .loopback]
}

func extensions(_ service: UNNotificationServiceExtension) {
    takes(service.serviceExtensionTimeWillExpire, (() -> Void).self)
    takes(
        service.didReceive(_:withContentHandler:),
        ((UNNotificationRequest, @escaping (UNNotificationContent) -> Void) -> Void).self)
}

func network(_ monitor: NWPathMonitor, _ path: NWPath, _ queue: DispatchQueue) {
    _ = NWPathMonitor()
    has(\NWPathMonitor.currentPath, NWPath.self)
    has(\NWPath.status, NWPath.Status.self)
    takes(path.usesInterfaceType, ((NWInterface.InterfaceType) -> Bool).self)
    takes(monitor.start(queue:), ((DispatchQueue) -> Void).self)
    takes(monitor.cancel, (() -> Void).self)
}

func foundation(_ files: FileManager, _ process: ProcessInfo) {
    takes(files.containerURL(forSecurityApplicationGroupIdentifier:), ((String) -> URL?).self)
    takes(
        process.performExpiringActivity(withReason:using:), ((String, @escaping @Sendable (Bool) -> Void) -> Void).self)
    let barrier: Int32 = F_BARRIERFSYNC
    _ = barrier
}

@MainActor
func interface(_ application: UIApplication, _ session: UISceneSession, _ scene: UIWindowScene) {
    has(\UISceneSession.role, UISceneSession.Role.self)
    has(\UISceneConfiguration.delegateClass, AnyClass?.self)
    has(\UIWindow.rootViewController, UIViewController?.self)
    let shared: UIApplication = UIApplication.shared
    let register: @MainActor () -> Void = application.registerForRemoteNotifications
    let configuration: UISceneConfiguration = UISceneConfiguration(name: nil, sessionRole: session.role)
    let window: UIView = UIWindow(windowScene: scene)
    let show: @MainActor () -> Void = (window as? UIWindow ?? UIWindow(windowScene: scene)).makeKeyAndVisible
    let responders: [UIResponder.Type] = [UIApplication.self, UIViewController.self, UIView.self, UIScene.self]
    let objects: [NSObject.Type] = [UIResponder.self, UISceneSession.self, UIScene.ConnectionOptions.self]
    let scenes: UIScene.Type = UIWindowScene.self
    _ = (shared, register, configuration, show, responders, objects, scenes)
}

@MainActor
func views<Delegate: NSObject & UIApplicationDelegate>(_: Delegate.Type) {
    let group: WindowGroup<Text> = WindowGroup { Text("The shop") }
    let adaptor: UIApplicationDelegateAdaptor<Delegate> = UIApplicationDelegateAdaptor(Delegate.self)
    has(\UIApplicationDelegateAdaptor<Delegate>.wrappedValue, Delegate.self)
    _ = (group, adaptor)
}
