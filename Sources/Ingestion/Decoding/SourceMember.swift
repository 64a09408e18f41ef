import JSON

/// The members of `source`, the envelope's or an event's.
enum SourceMember: UInt8, MemberName {
    case installID, platform, osVersion, appVersion, sdk, deviceModel, locale, timeZone, fid, authorization

    static let keys = JSONKeys(allCases.map(\.name))

    var name: StaticString {
        switch self {
        case .installID: "install_id"
        case .platform: "platform"
        case .osVersion: "os_version"
        case .appVersion: "app_version"
        case .sdk: "sdk"
        case .deviceModel: "device_model"
        case .locale: "locale"
        case .timeZone: "time_zone"
        case .fid: "fid"
        case .authorization: "authorization"
        }
    }
}
