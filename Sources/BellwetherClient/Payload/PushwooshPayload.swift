/// What Pushwoosh writes at the root of a payload.
///
/// `pw_msg` says that it is one of theirs. `p` is `_<campaign>_<message>_<code>`, the numbers in base 62 (in older
/// messages a short hash): the same for everybody who gets the message, so that with an install it names a delivery.
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

    /// Base 62, digits first, then small letters, then capitals. Zero is no campaign.
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
