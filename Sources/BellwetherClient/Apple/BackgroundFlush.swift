#if canImport(UIKit) && !os(watchOS)
public import Foundation

extension Bellwether {
    /// Sends what waits while the app goes to the background: asks the system not to suspend it meanwhile, and stops in
    /// time when the system will. Returns at once.
    public func flushInBackground(within seconds: TimeInterval = 20) { flush(within: seconds, in: .system) }
}
#endif
