#if canImport(UserNotifications)
internal import Foundation
internal import UserNotifications

extension FileSystem {
    static let system = FileSystem(
        // `fsync` alone leaves what was written in the drive, which may write it down in another order.
        barrier: { descriptor in fcntl(descriptor, F_BARRIERFSYNC) == 0 },
        mark: { directory in
            #if !os(macOS)
            // Readable on a locked phone. Files that are made in it take it over.
            try? FileManager.default.setAttributes(
                [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication], ofItemAtPath: directory)
            #endif
            // A phone that is set up from another's backup is another install.
            var url = URL(fileURLWithPath: directory, isDirectory: true)
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            try? url.setResourceValues(values)
        })
}
#endif
