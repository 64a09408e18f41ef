#if canImport(UIKit) && !os(watchOS)
public import Foundation
internal import UIKit

extension Bellwether {
    /// Sends what waits while the app goes to the background: asks the system not to suspend it meanwhile, and stops in
    /// time when the system will. Returns at once.
    public func flushInBackground(within seconds: TimeInterval = 20) {
        let sending = Guarded<Task<Void, Never>?>(nil)
        // Called on a thread of its own, and once more if the time is over before it has returned.
        ProcessInfo.processInfo.performExpiringActivity(withReason: "Bellwether sends what waits") { [self] isOver in
            if isOver { return sending.withLock { $0?.cancel() } }
            let hasEnded = DispatchSemaphore(value: 0)
            let task = Task {
                await flush(within: seconds)
                hasEnded.signal()
            }
            sending.withLock { $0 = task }
            hasEnded.wait()
        }
    }
}
#endif
