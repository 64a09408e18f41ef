package import Telemetry
package import Values

/// What a phone sends in one request, and how the server must answer.
package struct Envelope: Sendable {
    /// The true time of sending.
    package let time: Timestamp
    package let events: Int
    /// Invalid events by their index, with the reason that the server must give.
    package let faults: [Int: RejectionReason]
    /// The number of valid events that the server already has.
    package let repeated: Int
    /// How far the phone's clock is off.
    private let clockError: Int64
    private let rest: String

    init(_ records: [Record], from phone: Phone, at time: Timestamp, dropped: String? = nil) {
        self.time = time
        events = records.count
        var faults: [Int: RejectionReason] = [:]
        for (index, record) in records.enumerated() { faults[index] = record.fault }
        self.faults = faults
        repeated = records.count { $0.isRepeated && $0.fault == nil }
        clockError = phone.clock.error
        rest =
            "\"source\":\(phone.source.text),"
            + (dropped.map { "\"dropped\":[\($0)]," } ?? "")
            + "\"events\":[\(records.map(\.text).joined(separator: ","))]}"
    }

    /// The body of a request that is sent at this moment. Its events are the same each time.
    package func body(sentAt time: Timestamp) -> [UInt8] {
        Array("{\"sent_at\":\"\((time + clockError).wire)\",\(rest)".utf8)
    }
}

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
        object.add("settings", raw: settings == Settings() ? nil : settings.text)
        return object.text
    }
}

extension Settings {
    fileprivate var text: String {
        var object = ObjectText()
        for (member, setting) in zip(Member.members(of: .settings), Settings.all) {
            object.add("\(member.declaration.key)", self[keyPath: setting])
        }
        return object.text
    }
}
