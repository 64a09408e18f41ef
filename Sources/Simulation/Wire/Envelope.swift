package import Telemetry
package import Values

/// What a phone sends in one request, and what the server has to make of it.
package struct Envelope: Sendable {
    /// When it is sent, by the true time.
    package let time: Timestamp
    package let events: Int
    /// Events that are not valid, by their place, with the reason that must be found.
    package let faults: [Int: RejectionReason]
    /// Valid events that the server has been told before.
    package let repeated: Int
    /// How far the clock of the phone is off.
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

    /// The body of a request that leaves at this moment. However often it is sent, its events stay the same.
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
        return object.text
    }
}
