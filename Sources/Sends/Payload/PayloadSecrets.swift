internal import JSON

/// Members of a payload that say to whom it went, or let somebody send in your name. They are not kept, at any depth.
package enum PayloadSecrets {
    /// Device tokens of FCM, addressees and the API token of Pushwoosh.
    package static let members: [StaticString] = [
        "token", "tokens", "to", "registration_ids", "devices", "users", "auth",
    ]

    static func names(_ key: JSONText) -> Bool { members.contains { key.spells($0) } }
}
