internal import JSON

/// The campaign in a payload of Pushwoosh: `p` is `_<campaign>_<message>_<code>`, the numbers in base 62.
enum PushwooshCampaign {
    /// Its number in decimal digits; nil for a payload of somebody else, and for a message without a campaign.
    static func number(of payload: JSONValue) -> String? {
        guard payload["pw_msg"] != nil, let name = payload["p"]?.text?.string else { return nil }
        let parts = name.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count > 3, parts[0].isEmpty, let number = decimal(parts[1]), number > 0 else { return nil }
        return String(number)
    }

    private static let digits = Array("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)

    private static func decimal(_ text: Substring) -> UInt64? {
        text.utf8.reduce(0) { (sum: UInt64?, letter) in
            guard let sum, let digit = digits.firstIndex(of: letter) else { return nil }
            let (product, isTooLarge) = sum.multipliedReportingOverflow(by: 62)
            let (next, overflows) = product.addingReportingOverflow(UInt64(digit))
            return isTooLarge || overflows ? nil : next
        }
    }
}
