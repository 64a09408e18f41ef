import JSON

/// Keys under which clients send text that a person typed. Never kept, at any depth, whether the event is accepted or
/// rejected.
enum FreeText {
    static let keys: [StaticString] = ["text", "user_text", "reply", "input"]
}

func isFreeText(_ key: JSONText) -> Bool {
    FreeText.keys.contains { name in key.spells(name) }
}
