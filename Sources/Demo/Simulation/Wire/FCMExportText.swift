internal import Telemetry
package import Values

/// A row of the delivery data that Firebase exports, as a line of JSON.
package struct FCMExportText: Sendable {
    package let time: Timestamp
    package let text: String

    /// What happened to a message of a campaign on its way to a phone.
    enum Event: String { case accepted = "MESSAGE_ACCEPTED", delivered = "MESSAGE_DELIVERED" }

    init(_ event: Event, at time: Timestamp, message number: Int64, of campaign: Campaign, to phone: Phone) {
        let source = phone.source
        var object = ObjectText()
        let moment = time.description
        object.add("event_timestamp", "\(moment.prefix(10)) \(moment.dropFirst(11).prefix(12)) UTC")
        object.add("message_id", "\(number)")
        // Firebase knows each instance, whether or not the app tells its id.
        object.add("instance_id", source.fid ?? String(Dice.mix(source.installID.low), radix: 36))
        object.add("message_type", campaign.series.kind == .silent ? "DATA_MESSAGE" : "DISPLAY_NOTIFICATION")
        object.add("sdk_platform", source.platform?.uppercased())
        object.add("event", event.rawValue)
        object.add("analytics_label", "push-\(campaign.name)")
        (self.time, text) = (time, object.text)
    }
}
