internal import Telemetry
internal import Values

extension Source {
    /// As the member `source` of an envelope.
    var text: String {
        var object = ObjectText()
        object.add("install_id", installID.description)
        object.add("platform", platform)
        object.add("os_version", osVersion)
        object.add("app_version", appVersion)
        object.add("sdk", sdk)
        object.add("device_model", deviceModel)
        object.add("locale", locale)
        object.add("time_zone", timeZone)
        object.add("fid", fid)
        object.add("authorization", authorization)
        object.add("show_previews", showPreviews)
        return object.text
    }
}
