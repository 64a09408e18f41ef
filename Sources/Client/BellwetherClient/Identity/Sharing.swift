internal import Foundation

/// Whether an app and its extensions can share a directory.
///
/// On phones, and in the sandbox on Macs, each of them has its own home directory, which the others cannot see. An App
/// Group lies outside all of them. So a directory inside the home directory is never shared.
enum Sharing {
    /// The warning about a directory, for a process whose bundle is an extension or contains one.
    static func concern(directory: URL, home: String, bundle: URL, embedsExtensions: Bool) -> Diagnostic? {
        let isExtension = bundle.pathExtension == "appex"
        guard isExtension || embedsExtensions else { return nil }
        let path = directory.standardizedFileURL.resolvingSymlinksInPath().path
        let home = URL(fileURLWithPath: home, isDirectory: true).standardizedFileURL.resolvingSymlinksInPath().path
        guard path == home || path.hasPrefix(home + "/") else { return nil }
        let who = isExtension ? "this extension" : "the app"
        return Diagnostic(
            .notShared,
            """
            The directory lies in the home of \(who), where no other process can reach it: receipts and openings will \
            seem to come from two installs. Give the app and its extensions one App Group, and the library a directory \
            in its container.
            """, count: 0)
    }

    /// The warning about a directory in this process.
    static func concern(directory: URL) -> Diagnostic? {
        let bundle = Bundle.main.bundleURL
        guard hasOwnHome(bundle: bundle, environment: ProcessInfo.processInfo.environment) else { return nil }
        let plugIns = Bundle.main.builtInPlugInsURL
        let names = plugIns.flatMap { try? FileManager.default.contentsOfDirectory(atPath: $0.path) } ?? []
        return concern(
            directory: directory, home: NSHomeDirectory(), bundle: bundle,
            embedsExtensions: names.contains { $0.hasSuffix(".appex") })
    }

    /// Whether a process has a home directory that others cannot see.
    private static func hasOwnHome(bundle: URL, environment: [String: String]) -> Bool {
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
        true
        #elseif os(macOS)
        hasOwnHomeOnMac(bundle: bundle, environment: environment)
        #else
        false
        #endif
    }

    /// On a Mac, sandboxed processes do: apps that ask for it, and all extensions. Others share the user's home
    /// directory.
    static func hasOwnHomeOnMac(bundle: URL, environment: [String: String]) -> Bool {
        environment["APP_SANDBOX_CONTAINER_ID"] != nil || bundle.pathExtension == "appex"
    }
}
