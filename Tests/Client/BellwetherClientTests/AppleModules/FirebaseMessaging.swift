// What the guide touches of Firebase's iOS SDK, declared as its documentation has it, for type-checking elsewhere.
import Foundation
import UserNotifications

open class MessagingMessageInfo: NSObject {}

open class Messaging: NSObject {
    open class func messaging() -> Messaging { fatalError() }
    open class func serviceExtension() -> MessagingExtensionHelper { fatalError() }
    open var apnsToken: Data?
    @discardableResult
    open func appDidReceiveMessage(_ message: [AnyHashable: Any]) -> MessagingMessageInfo { fatalError() }
}

open class MessagingExtensionHelper: NSObject {
    open func populateNotificationContent(
        _ content: UNMutableNotificationContent,
        withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {}
    open func exportDeliveryMetricsToBigQuery(withMessageInfo info: [AnyHashable: Any]) {}
}
