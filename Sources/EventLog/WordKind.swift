/// What a word of the dictionary is used for. The codes are frozen: stored words hold them.
package enum WordKind: Int16, CaseIterable, Sendable {
    case category = 1
    case thread
    case campaign
    case variant
    case analyticsLabel
    case topic
    case interruptionLevel
    case platform
    case osVersion
    case appVersion
    case sdk
    case deviceModel
    case locale
    case timeZone
    case actionID
    case linkScheme
    case linkHost
    case mediaFormat

    /// The member that holds it, as a path within an event.
    package var path: String {
        switch self {
        case .category: "notification.category"
        case .thread: "notification.thread"
        case .campaign: "notification.campaign"
        case .variant: "notification.variant"
        case .analyticsLabel: "notification.analytics_label"
        case .topic: "notification.topic"
        case .interruptionLevel: "notification.interruption_level"
        case .platform: "source.platform"
        case .osVersion: "source.os_version"
        case .appVersion: "source.app_version"
        case .sdk: "source.sdk"
        case .deviceModel: "source.device_model"
        case .locale: "source.locale"
        case .timeZone: "source.time_zone"
        case .actionID: "action_id"
        case .linkScheme: "link_scheme"
        case .linkHost: "link_host"
        case .mediaFormat: "media.format"
        }
    }
}
