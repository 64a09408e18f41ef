#if canImport(UserNotifications)
public import Foundation
internal import UserNotifications

extension Bellwether.Configuration {
    /// Sets where events are sent, and keeps waiting events in the container of an App Group.
    ///
    /// Without the group's entitlement, a phone has no such container. Events then wait in a directory that other
    /// processes cannot reach, and ``Bellwether/diagnostics`` reports this if the app has extensions. A Mac always
    /// names a container, but without the entitlement a sandboxed process cannot write to it. Nothing is recorded then,
    /// and diagnostics report that.
    public init(server: URL, writeKey: String, appGroup: String) {
        let files = FileManager.default
        let container = files.containerURL(forSecurityApplicationGroupIdentifier: appGroup)
        let support = files.urls(for: .applicationSupportDirectory, in: .userDomainMask)
        let directory = container ?? support.first ?? files.temporaryDirectory
        self.init(
            server: server, writeKey: writeKey,
            directory: directory.appendingPathComponent("Bellwether", isDirectory: true))
    }
}

extension FileSystem {
    static let system = FileSystem(
        // `fsync` alone leaves the data in the drive's cache, and the drive may write it in another order.
        barrier: { descriptor in fcntl(descriptor, F_BARRIERFSYNC) == 0 },
        mark: { directory in
            #if !os(macOS)
            // Readable on a locked phone. New files in the directory inherit this.
            try? FileManager.default.setAttributes(
                [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication], ofItemAtPath: directory)
            #endif
            // Keep it out of backups: a phone that is restored from another phone's backup is a new install.
            var url = URL(fileURLWithPath: directory, isDirectory: true)
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            try? url.setResourceValues(values)
        })
}
#endif
