internal import JSON
internal import Telemetry

/// A payload in any of the forms that services accept: the bare form of Apple's service; FCM's, with or without its
/// `message`, and its older one; a Pushwoosh request with its `notifications`.
struct PushPayload {
    /// The objects that become the root of the payload dictionary on the phone, as far as the form shows.
    private let roots: [JSONValue]
    /// FCM's message: the payload itself, or its member `message`.
    private let message: JSONValue
    /// Pushwoosh's notifications.
    private let notifications: [JSONValue]
    private let root: JSONValue
    private let texts: JSONTexts

    init(_ root: JSONValue, texts: JSONTexts) {
        self.root = root
        self.texts = texts
        message = root.object("message") ?? root
        notifications =
            ((root.object("request") ?? root)["notifications"]?.elements).map { $0.filter(\.isObject) } ?? []
        roots =
            [root, message.object("apns")?.object("payload"), message.object("data")].compactMap { $0 }
            + notifications.compactMap { $0.object("ios_root_params") }
    }

    /// Apple's own member, else FCM's older one, else Pushwoosh's.
    var category: String? {
        first(roots) { $0.object("aps")?["category"] } ?? name(message.object("notification")?["click_action"])
            ?? first([root] + notifications) { $0["ios_category_custom"] }
    }

    var thread: String? { first(roots) { $0.object("aps")?["thread-id"] } }

    /// As the client library reads it: the campaign number of Firebase's composer, else Pushwoosh's.
    var campaign: String? {
        first(roots) { $0["google.c.a.c_id"] } ?? roots.lazy.compactMap(PushwooshCampaign.number).first
    }

    var analyticsLabel: String? {
        first([message.object("apns"), message].compactMap { $0 }) { part in
            let options = part.object("fcm_options") ?? part.object("fcmOptions")
            return options?["analytics_label"] ?? options?["analyticsLabel"]
        } ?? first(roots) { $0["google.c.a.m_l"] }
    }

    var topic: String? {
        let prefix = "/topics/"
        return [message["topic"], message["to"]].lazy.compactMap { name($0) }.compactMap { text in
            if text.hasPrefix(prefix) { return String(text.dropFirst(prefix.count)) }
            // Anything else in `to` is a single device.
            return name(message["topic"]) == text ? text : nil
        }.first { !$0.isEmpty }
    }

    /// The story; nil if there is no sign of one.
    var story: Story? {
        var isMentioned = false
        for place in roots {
            if let block = place["pw_stories"] {
                if block.isObject { return Story(block) }
                isMentioned = true
            }
            for data in [place["u"], place["userdata"]] {
                if let story = story(in: data, &isMentioned) { return story }
            }
        }
        for notification in notifications {
            if let story = story(in: notification["data"], &isMentioned) { return story }
        }
        return isMentioned ? .malformed : nil
    }

    /// The story in custom data, which is an object or a JSON text.
    private func story(in data: JSONValue?, _ isMentioned: inout Bool) -> Story? {
        guard let data else { return nil }
        let found: Story?? = texts.open(data) { object in
            object["pw_stories"].map { block in block.isObject ? Story(block) : nil }
        }
        switch found {
        case .some(.some(let story)): return story
        case .some(.none): isMentioned = true
        case .none: if data.text?.string.contains("\"pw_stories\"") == true { isMentioned = true }
        }
        return nil
    }

    private func first(_ places: [JSONValue], _ member: (JSONValue) -> JSONValue?) -> String? {
        for place in places {
            if let name = name(member(place)) { return name }
        }
        return nil
    }

    /// A name, from a text or the digits of a whole number, if the service can store it.
    private func name(_ value: JSONValue?) -> String? {
        if let text = value?.text {
            return text.isEmpty || text.count > Bounds.identifier || text.holdsNUL ? nil : text.string
        }
        return value?.number?.integer.map { String($0) }
    }
}

extension JSONValue {
    /// The member of an object, the last of repeated ones; nil if there is none, and for null.
    subscript(_ name: StaticString) -> JSONValue? {
        var found: JSONValue?
        for (key, value) in members where key.spells(name) { found = value.isNull ? nil : value }
        return found
    }

    /// The member, if it is an object.
    func object(_ name: StaticString) -> JSONValue? { self[name].flatMap { $0.isObject ? $0 : nil } }
}

/// The campaign in a Pushwoosh payload: `p` is `_<campaign>_<message>_<code>`, with the numbers in base 62.
enum PushwooshCampaign {
    /// Its number in decimal digits; nil for payloads of other services, and for a message without a campaign.
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

/// Members of a payload that show who received it, or that let somebody send in your name. They are not kept, at any
/// depth.
package enum PayloadSecrets {
    /// FCM's device tokens, and Pushwoosh's addressees and API token.
    package static let members: [StaticString] = [
        "token", "tokens", "to", "registration_ids", "devices", "users", "auth",
    ]

    static func names(_ key: JSONText) -> Bool { members.contains { key.spells($0) } }
}
