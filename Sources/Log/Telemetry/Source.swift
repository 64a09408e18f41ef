package import Values

/// The install that sends the event, and what it runs on. All events of an envelope share one object.
package final class Source: Sendable {
    package let installID: UUID
    package let platform: String?
    package let osVersion: String?
    package let appVersion: String?
    package let sdk: String?
    package let deviceModel: String?
    package let locale: String?
    package let timeZone: String?
    /// The Firebase installation id.
    package let fid: String?
    package let authorization: Authorization?
    package let showPreviews: ShowPreviews?
    package let settings: Settings

    package init(
        installID: UUID, platform: String? = nil, osVersion: String? = nil, appVersion: String? = nil,
        sdk: String? = nil, deviceModel: String? = nil, locale: String? = nil, timeZone: String? = nil,
        fid: String? = nil, authorization: Authorization? = nil, showPreviews: ShowPreviews? = nil,
        settings: Settings = Settings()
    ) {
        self.installID = installID
        self.platform = platform
        self.osVersion = osVersion
        self.appVersion = appVersion
        self.sdk = sdk
        self.deviceModel = deviceModel
        self.locale = locale
        self.timeZone = timeZone
        self.fid = fid
        self.authorization = authorization
        self.showPreviews = showPreviews
        self.settings = settings
    }
}

/// What the person allowed the app to show.
package enum Authorization: Int16, WireEnum {
    case authorized = 1
    case provisional
    case ephemeral
    case denied
    case notDetermined

    package var wire: String {
        switch self {
        case .authorized: "authorized"
        case .provisional: "provisional"
        case .ephemeral: "ephemeral"
        case .denied: "denied"
        case .notDetermined: "not_determined"
        }
    }
}

/// When the person lets notifications show their content.
package enum ShowPreviews: Int16, WireEnum {
    case always = 1
    case whenAuthenticated
    case never

    package var wire: String {
        switch self {
        case .always: "always"
        case .whenAuthenticated: "when_authenticated"
        case .never: "never"
        }
    }
}
