import JSON

/// Keys under which clients send what a person typed. Never kept, at no depth, of a good event or a bad one.
enum FreeText {
    static let keys: [StaticString] = ["text", "user_text", "reply", "input"]
}

func isFreeText(_ key: JSONText) -> Bool {
    FreeText.keys.contains { name in key.spells(name) }
}
