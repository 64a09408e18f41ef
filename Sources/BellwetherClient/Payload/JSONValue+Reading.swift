internal import Foundation

extension JSONValue {
    /// How deep a payload is read: what lies deeper, perhaps without end, is null.
    static let levels = 24

    /// What stands in a payload dictionary; whatever JSON does not know is null.
    ///
    /// Numbers come before flags: to Apple's Foundation the number 1 is also a flag, and who reads a flag takes a number.
    init(reading value: Any, levels: Int = JSONValue.levels) {
        switch value {
        case let text as String: self = .text(text)
        case let integer as Int64: self = .integer(integer)
        case let integer as Int: self = .integer(Int64(integer))
        case let real as Double: self = .real(real)
        case let flag as Bool: self = .flag(flag)
        case let number as NSNumber:
            self = Int64(exactly: number.doubleValue).map(JSONValue.integer) ?? .real(number.doubleValue)
        case let list as [Any]:
            self = levels > 0 ? .list(list.map { JSONValue(reading: $0, levels: levels - 1) }) : .null
        case let object as [AnyHashable: Any]:
            guard levels > 0 else {
                self = .null
                return
            }
            self = .object(
                object.compactMap { key, value in
                    (key.base as? String).map { Field($0, JSONValue(reading: value, levels: levels - 1)) }
                })
        default: self = .null
        }
    }

    /// The object that a text of JSON holds; nil for any other text.
    init?(parsingObject text: String) {
        guard let object = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] else {
            return nil
        }
        self.init(reading: object)
    }
}
