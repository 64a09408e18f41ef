internal import Foundation

#if canImport(BellwetherVersion)
internal import BellwetherVersion
#endif

/// The description of an install that an envelope carries.
struct Source: Sendable {
    var appVersion: String?
    /// The person's notification permission.
    var authorization: Bellwether.Authorization?
    /// When notifications show their content.
    var previews: Bellwether.Previews?
    /// What notifications may do.
    var settings: Bellwether.Settings?
    /// The Firebase installation ID, as the app has it.
    var firebaseInstallationID: String?
    /// The one in the newest payload.
    var payloadFirebaseID: String?

    static let library = "bellwether-swift/\(BellwetherVersion.number)"

    /// The description with the device's current language and time zone, which may change.
    var description: Description {
        var fields: [JSONValue.Field] = []
        func add(_ name: String, _ text: String?, bytes: Int = Bounds.string) {
            fields.add(name, text?.fitting(bytes))
        }
        add("platform", Device.platform)
        add("os_version", Device.systemVersion)
        add("app_version", appVersion)
        add("sdk", Source.library)
        add("device_model", Device.model)
        add("locale", Device.language)
        add("time_zone", TimeZone.autoupdatingCurrent.identifier)
        add("fid", firebaseInstallationID ?? payloadFirebaseID, bytes: Bounds.identifier)
        add("authorization", authorization?.rawValue)
        add("show_previews", previews?.rawValue)
        fields.add("settings", settings?.value)
        return Description(fields: fields)
    }

    /// Everything about an install except its id.
    struct Description: Sendable {
        let fields: [JSONValue.Field]

        /// The JSON object.
        func json(install: UUID) -> [UInt8] {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(512)
            let id = JSONValue.Field("install_id", .text(install.uuidString.lowercased()))
            JSONValue.object([id] + fields).write(to: &bytes)
            return bytes
        }
    }
}

/// The device and its system.
enum Device {
    static let platform: String = {
        #if targetEnvironment(macCatalyst)
        "macos"
        #elseif os(iOS)
        // The model says so on every thread; asking UIKit is for the main one.
        model?.hasPrefix("iPad") == true ? "ipados" : "ios"
        #elseif os(macOS)
        "macos"
        #elseif os(tvOS)
        "tvos"
        #elseif os(watchOS)
        "watchos"
        #elseif os(visionOS)
        "visionos"
        #else
        "linux"
        #endif
    }()

    /// For example `26.1` or `26.1.2`.
    static let systemVersion: String = {
        let version = ProcessInfo.processInfo.operatingSystemVersion
        let patch = version.patchVersion > 0 ? ".\(version.patchVersion)" : ""
        return "\(version.majorVersion).\(version.minorVersion)\(patch)"
    }()

    /// For example `th-TH`, without calendar and number system.
    static var language: String? {
        let identifier = Locale.autoupdatingCurrent.identifier.split(separator: "@").first
        return identifier?.replacingOccurrences(of: "_", with: "-")
    }

    /// The manufacturer's model name, such as `iPhone17,1` or `Mac16,1`. It names a kind of device, not one device.
    static let model: String? = {
        if let simulated = ProcessInfo.processInfo.environment["SIMULATOR_MODEL_IDENTIFIER"] { return simulated }
        #if os(macOS) || targetEnvironment(macCatalyst)
        // What `uname` says of a Mac is its processor: `arm64`.
        return system("hw.model")
        #else
        return machine()
        #endif
    }()

    #if os(macOS) || targetEnvironment(macCatalyst)
    private static func system(_ name: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: 256)
        var size = bytes.count
        guard unsafe sysctlbyname(name, &bytes, &size, nil, 0) == 0 else { return nil }
        return String(decoding: bytes.prefix(min(size, bytes.count)).prefix { $0 != 0 }, as: UTF8.self)
    }
    #else
    private static func machine() -> String? {
        var names = utsname()
        guard unsafe uname(&names) == 0 else { return nil }
        // SAFETY: the bytes are read while `names` lives, and not past their end.
        return unsafe withUnsafeBytes(of: &names.machine) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
    #endif

    /// Whether this process is an extension of an app.
    static let isExtension = Bundle.main.bundleURL.pathExtension == "appex"

    /// The version in the bundle's Info.plist.
    static let bundleVersion = Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String
}
