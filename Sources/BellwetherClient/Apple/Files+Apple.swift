#if canImport(UserNotifications)
public import Foundation
internal import UserNotifications

extension Bellwether.Configuration {
    /// Describes where events go, and that they wait in the container of an App Group.
    ///
    /// Without the group's entitlement a phone gives no container: then they wait in a directory that other processes cannot
    /// reach, and ``Bellwether/diagnostics`` says so, where there are others. A Mac names a container in any case, and lets
    /// nobody in the sandbox write to it without the entitlement: then nothing is recorded, and that is said.
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
