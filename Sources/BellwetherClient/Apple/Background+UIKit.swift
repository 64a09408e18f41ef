#if canImport(UIKit) && !os(watchOS)
public import Foundation
public import UIKit

extension Bellwether {
    /// A remote notification woke the app, and this is what it fetched. Call it where the app calls the fetch completion
    /// handler. Recorded only for payloads with `content-available`: for others that callback fires when somebody taps.
    ///
    /// ```swift
    /// func application(
    ///     _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
    ///     fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    /// ) {
    ///     refresh { result in completionHandler(bellwether.didFetch(result, for: userInfo)) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - result: What it fetched.
    ///   - userInfo: The payload, as the system gave it.
    /// - Returns: The same result.
    @discardableResult
    public func didFetch(
        _ result: UIBackgroundFetchResult, for userInfo: [AnyHashable: Any]
    ) -> UIBackgroundFetchResult {
        received(push(userInfo), .background(FetchResult(rawValue: result.rawValue)))
        return result
    }
}

extension Bellwether {
    /// Sends what waits while the app goes to the background: asks the system not to suspend it meanwhile, and stops in
    /// time when the system will. Returns at once.
    public func flushInBackground(within seconds: TimeInterval = 20) { flush(within: seconds, in: .system) }
}

extension ExpiringActivity {
    static let system = ExpiringActivity { reason, block in
        ProcessInfo.processInfo.performExpiringActivity(withReason: reason, using: block)
    }
}
#endif
