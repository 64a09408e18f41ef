// What the library and its guide touch of Apple's framework, declared as its documentation has it, for type-checking
// elsewhere.
@_exported import Foundation

public enum UIBackgroundFetchResult: UInt, Sendable {
    case newData = 0
    case noData = 1
    case failed = 2
}

@MainActor open class UIResponder: NSObject {
    public override nonisolated init() {}
}

@MainActor open class UIApplication: UIResponder {
    public struct LaunchOptionsKey: Hashable, Sendable {}
}

@MainActor public protocol UIApplicationDelegate: NSObjectProtocol {
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool
    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void)
    func applicationDidEnterBackground(_ application: UIApplication)
}

extension UIApplicationDelegate {
    public static func main() {}
    public func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {}
    public func applicationDidEnterBackground(_ application: UIApplication) {}
}

@MainActor open class UIViewController: UIResponder {}

extension ProcessInfo {
    public func performExpiringActivity(withReason reason: String, using block: @escaping @Sendable (Bool) -> Void) {}
}
