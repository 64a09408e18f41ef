internal import BellwetherVersion
internal import Foundation

/// What an envelope says of the install that its events come from.
struct Source: Sendable {
    var appVersion: String?
    /// What the person allowed the app to show.
    var authorization: Bellwether.Authorization?
    /// Firebase's name of the installation.
    var firebaseInstallationID: String?

    static let library = "bellwether-swift/\(BellwetherVersion.number)"

    /// With the device as it is now: its language and its time zone may change.
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
        return Description(fields: fields)
    }

    /// All that there is to say of an install but its id.
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

    /// Such as `26.1` or `26.1.2`.
    static let systemVersion: String = {
        let version = ProcessInfo.processInfo.operatingSystemVersion
        let patch = version.patchVersion > 0 ? ".\(version.patchVersion)" : ""
        return "\(version.majorVersion).\(version.minorVersion)\(patch)"
    }()

    /// Such as `th-TH`, without the calendar and the numbers that go with it.
    static var language: String? {
        let identifier = Locale.autoupdatingCurrent.identifier.split(separator: "@").first
        return identifier?.replacingOccurrences(of: "_", with: "-")
    }

    /// The maker's name of the model, such as `iPhone17,1`: a sort of device, not one device.
    static let model: String? = {
        if let simulated = ProcessInfo.processInfo.environment["SIMULATOR_MODEL_IDENTIFIER"] { return simulated }
        var names = utsname()
        guard unsafe uname(&names) == 0 else { return nil }
        // SAFETY: the bytes are read while `names` lives, and not beyond their end.
        return unsafe withUnsafeBytes(of: &names.machine) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }()

    /// Whether this process is an extension of an app.
    static let isExtension = Bundle.main.bundleURL.pathExtension == "appex"

    /// The version that the bundle says it has.
    static let bundleVersion = Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String
}
