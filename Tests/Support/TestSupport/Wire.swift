internal import Values

/// The text of envelopes and events as a client sends them.
package enum Wire {
    /// An install that nobody else uses.
    package static func id() -> String { "\(UUID.random())" }

    /// The same for the same numbers.
    package static func id(using numbers: inout some RandomNumberGenerator) -> String {
        "\(UUID(high: numbers.next(), low: numbers.next()))"
    }

    /// An event that is right; name those members that matter to the test. `more` is appended to its members.
    package static func event(
        id: String = Wire.id(), type: String = "notification.opened", at: String = "2026-11-20T09:30:10.001Z",
        notification: String = #"{"id":"req-1","category":"INFO_CATEGORY"}"#, more: String = ""
    ) -> String {
        #"{"id":"\#(id)","type":"\#(type)","at":"\#(at)","notification":\#(notification)\#(more.isEmpty ? "" : "," + more)}"#
    }

    /// An envelope of one install.
    package static func envelope(
        install: String = Wire.id(), sentAt: String? = nil, more: String = "", _ events: String...
    ) -> String {
        envelope(install: install, sentAt: sentAt, more: more, events)
    }

    /// An envelope of one install.
    package static func envelope(
        install: String = Wire.id(), sentAt: String? = nil, more: String = "", _ events: [String]
    ) -> String {
        let sent = sentAt.map { #""sent_at":"\#($0)","# } ?? ""
        let source = #""source":{"install_id":"\#(install)","platform":"ios"},"#
        return "{\(sent)\(source)\(more.isEmpty ? "" : more + ",")\"events\":[\(events.joined(separator: ","))]}"
    }
}
