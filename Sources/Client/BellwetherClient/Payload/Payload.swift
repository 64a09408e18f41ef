/// A payload dictionary, read key by key: other keys are not read.
struct Payload {
    private let dictionary: [AnyHashable: Any]

    init(_ dictionary: [AnyHashable: Any]) {
        self.dictionary = dictionary
    }

    /// The value of a key at the root.
    subscript(_ key: String) -> JSONValue? {
        dictionary[key].map { JSONValue(reading: $0) }
    }

    /// The value of a key: either a key of the root, which may contain dots, or a path with its parts separated by
    /// dots.
    ///
    /// A path leads through objects and through JSON in strings.
    func value(at key: String) -> JSONValue? {
        if let value = self[key] { return value }
        let parts = key.split(separator: ".").map(String.init)
        guard parts.count > 1, var value = self[parts[0]] else { return nil }
        for part in parts.dropFirst() {
            guard let next = value.opened?[part] else { return nil }
            value = next
        }
        return value
    }
}

/// What Firebase Cloud Messaging writes at the root of a payload on Apple platforms.
///
/// The keys `google.c.a.*` belong to a message that Firebase's own analytics may count. `c_id` and `c_l` are the number
/// and name of a campaign in the console's composer, `m_l` is the label of the message, `ts` the time of sending in
/// seconds, `udt` whether that time applies in each device's own time zone, and `e` whether Google Analytics may log
/// it. We ignore `e`: Firebase itself decides what the phone sends to Google Analytics.
struct FirebasePayload {
    let messageID: String?
    let campaignID: String?
    let campaignName: String?
    let label: String?
    /// The topic's name, without `/topics/`.
    let topic: String?
    let image: String?
    let sentAt: Moment?
    /// `google.c.fid`: to which installation Firebase sent it.
    let installationID: String?

    init(_ payload: Payload) {
        installationID = payload["google.c.fid"]?.text
        messageID = payload["gcm.message_id"]?.name
        campaignID = payload["google.c.a.c_id"]?.name
        campaignName = payload["google.c.a.c_l"]?.text
        label = payload["google.c.a.m_l"]?.text
        topic = payload["from"]?.text.flatMap { from in
            from.hasPrefix("/topics/") ? String(from.dropFirst("/topics/".count)) : nil
        }
        image = payload["fcm_options"]?["image"]?.text
        let isLocalTime = payload["google.c.a.udt"]?.isOn ?? false
        sentAt = isLocalTime ? nil : Bellwether.Push.moment(payload["google.c.a.ts"]?.name)
    }
}

/// What Pushwoosh writes at the root of a payload.
///
/// `pw_msg` marks a Pushwoosh message. `p` is `_<campaign>_<message>_<code>`, with numbers in base 62 (in older
/// messages, a short hash). It is the same for all recipients of a message, so together with an install it identifies a
/// delivery.
struct PushwooshPayload {
    var messageHash: String?
    /// The campaign's number, in decimal digits.
    var campaign: String?
    var attachment: String?

    init(_ payload: Payload) {
        guard payload["pw_msg"] != nil else { return }
        messageHash = payload["p"]?.text
        attachment = payload["attachment"]?.text
        let parts = messageHash?.split(separator: "_", omittingEmptySubsequences: false) ?? []
        if parts.count > 3, parts[0].isEmpty { campaign = PushwooshPayload.number(parts[1]).map(String.init) }
    }

    /// Base 62: digits first, then lower-case letters, then capitals. Zero means no campaign.
    private static func number(_ text: Substring) -> UInt64? {
        var number: UInt64 = 0
        for byte in text.utf8 {
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "z"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit = byte - UInt8(ascii: "A") + 36
            default: return nil
            }
            let (product, overflows) = number.multipliedReportingOverflow(by: 62)
            guard !overflows, product <= .max - UInt64(digit) else { return nil }
            number = product + UInt64(digit)
        }
        return number > 0 ? number : nil
    }
}
