/// A payload dictionary, read key by key: what nobody asks for is not looked at.
struct Payload {
    private let dictionary: [AnyHashable: Any]

    init(_ dictionary: [AnyHashable: Any]) {
        self.dictionary = dictionary
    }

    /// What stands under a key of the root.
    subscript(_ key: String) -> JSONValue? {
        dictionary[key].map { JSONValue(reading: $0) }
    }

    /// What a key names: a key of the root, dots and all, or else a path, whose parts are parted by dots.
    ///
    /// A path leads through objects and through texts of JSON.
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
