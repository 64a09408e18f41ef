#if canImport(UIKit)
public import Foundation

#if !os(watchOS)
public import UIKit

extension Bellwether {
    /// Records what the app fetched after a remote notification woke it. Call it where the app calls the fetch
    /// completion handler. It records only payloads with `content-available`: for other payloads, the system makes that
    /// call when somebody taps.
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
    ///   - result: What the app fetched.
    ///   - userInfo: The payload, as the system gave it.
    /// - Returns: The same result.
    @discardableResult
    public func didFetch(
        _ result: UIBackgroundFetchResult, for userInfo: [AnyHashable: Any]
    ) -> UIBackgroundFetchResult {
        received(push(userInfo), .background(FetchResult(rawValue: result.rawValue)))
        flushIfBehind()
        return result
    }
}
#endif

extension Bellwether {
    /// Sends the waiting events in the background. It asks the system not to suspend the app meanwhile, and stops in
    /// time if the system has to. Returns at once. The library does so by itself when the app goes to the background.
    public func flushInBackground(within seconds: TimeInterval = 20) { flush(within: seconds, in: .system) }
}

extension ExpiringActivity {
    static let system = ExpiringActivity { reason, block in
        ProcessInfo.processInfo.performExpiringActivity(withReason: reason, using: block)
    }
}
#endif
