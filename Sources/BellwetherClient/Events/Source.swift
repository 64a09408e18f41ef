internal import BellwetherVersion
internal import Foundation

/// The description of an install that an envelope carries.
struct Source: Sendable {
    var appVersion: String?
    /// The person's notification permission.
    var authorization: Bellwether.Authorization?
    /// When notifications show their content.
    var previews: Bellwether.Previews?
    /// The Firebase installation ID.
    var firebaseInstallationID: String?

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
        add("fid", firebaseInstallationID, bytes: Bounds.identifier)
        add("authorization", authorization?.rawValue)
        add("show_previews", previews?.rawValue)
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
        #if os(iOS)
        "ios"
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

    /// The manufacturer's model name, such as `iPhone17,1`. It names a kind of device, not one device.
    static let model: String? = {
        if let simulated = ProcessInfo.processInfo.environment["SIMULATOR_MODEL_IDENTIFIER"] { return simulated }
        var names = utsname()
        guard unsafe uname(&names) == 0 else { return nil }
        // SAFETY: the bytes are read while `names` lives, and not past their end.
        return unsafe withUnsafeBytes(of: &names.machine) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }()

    /// Whether this process is an extension of an app.
    static let isExtension = Bundle.main.bundleURL.pathExtension == "appex"

    /// The version in the bundle's Info.plist.
    static let bundleVersion = Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String
}
