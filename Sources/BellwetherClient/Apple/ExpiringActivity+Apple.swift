#if canImport(UIKit) && !os(watchOS)
internal import Foundation
internal import UIKit

extension ExpiringActivity {
    static let system = ExpiringActivity { reason, block in
        ProcessInfo.processInfo.performExpiringActivity(withReason: reason, using: block)
    }
}
#endif
