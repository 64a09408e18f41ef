package import Telemetry
internal import Values

extension Event {
    /// What it says, by the paths of the members. Found by the names of the properties, so that no list of them stands
    /// here.
    package var values: [String: Sample.Value] {
        var values: [String: Sample.Value] = ["id": .uuid(id), "type": .word(type.wire), "at": .time(deviceAt)]
        values["seq"] = seq.map(Sample.Value.integer)
        Event.gather(source, at: "source.", &values)
        Event.gather(notification, at: "notification.", &values)
        Event.gather(interaction, at: "", &values)
        if notification != Notification() { values["notification"] = .object }
        values["source"] = .object
        if source.settings != Settings() { values["source.settings"] = .object }
        return values
    }

    private static func gather(_ object: Any, at path: String, _ values: inout [String: Sample.Value]) {
        for case (let label?, let property) in Mirror(reflecting: object).children {
            guard let value = unwrapped(property) else { continue }
            if let read = read(value) {
                values[path + (names[label] ?? label.inSnakeCase)] = read
            } else if let media = value as? Media {
                values["media"] = .object
                gather(media, at: "media.", &values)
            } else if let settings = value as? Settings {
                gather(settings, at: path + "settings.", &values)
            } else if let goal = value as? Goal {
                // Its value is in millionths.
                values["goal"] = .text(goal.name)
                values["value"] = goal.value.map(Sample.Value.decimal)
                values["currency"] = goal.currency.map(Sample.Value.text)
            } else {
                // The members that only this type has, or the labels of what a case holds.
                gather(value, at: path, &values)
            }
        }
    }

    /// Labels that are not called like their members.
    private static let names = ["to": "authorization", "from": "previous"]

    private static func unwrapped(_ value: Any) -> Any? {
        let mirror = Mirror(reflecting: value)
        return mirror.displayStyle == .optional ? mirror.children.first.flatMap { unwrapped($0.value) } : value
    }

    private static func read(_ value: Any) -> Sample.Value? {
        switch value {
        case let value as UUID: .uuid(value)
        case let value as Timestamp: .time(value)
        case let value as String: .text(value)
        case let value as Bool: .boolean(value)
        case let value as Double: .number(value)
        case let value as any BinaryInteger: .integer(Int64(value))
        case let value as any WireEnum: .word(value.wire)
        case let value as [any WireEnum]: .words(value.map(\.wire))
        default: nil
        }
    }
}

extension String {
    /// `deviceModel` as `device_model`, `fcmMessageID` as `fcm_message_id`.
    fileprivate var inSnakeCase: String {
        var (snake, isAfterCapital) = ("", true)
        for letter in self {
            if letter.isUppercase, !isAfterCapital { snake += "_" }
            snake += letter.lowercased()
            isAfterCapital = letter.isUppercase
        }
        return snake
    }
}
