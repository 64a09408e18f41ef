/// A complete event except for its sequence number, which the queue assigns.
struct Draft: Sendable, Hashable {
    let id: EventID
    let type: EventType
    let at: Moment
    /// The members of `notification`; nil for an event about the install.
    let notification: [JSONValue.Field]?
    /// The members that only events of its type have.
    let members: [JSONValue.Field]

    /// The event's JSON, with its members always in the same order.
    func json(seq: Int64) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(512)
        let head = [
            JSONValue.Field("id", .text("\(id)")),
            JSONValue.Field("type", .text(type.rawValue)),
            JSONValue.Field("at", .text("\(at)")),
            JSONValue.Field("seq", .integer(seq)),
        ]
        let subject = notification.map { [JSONValue.Field("notification", .object($0))] } ?? []
        JSONValue.object(head + subject + members).write(to: &bytes)
        return bytes
    }
}

/// The type of an event, by its name in the catalogue.
enum EventType: String, Sendable {
    case received = "notification.received"
    case expanded = "notification.expanded"
    case opened = "notification.opened"
    case dismissed = "notification.dismissed"
    case actionTapped = "action.tapped"
    case storyStarted = "story.started"
    case pageShown = "story.page_shown"
    case storyActionTapped = "story.action_tapped"
    case storyFinished = "story.finished"
    case fallbackShown = "story.fallback_shown"
    case permissionChanged = "permission.changed"
    case settingsChanged = "settings.changed"
    case goalReached = "goal.reached"
}

extension [JSONValue.Field] {
    /// Adds a member unless its value is nil.
    mutating func add(_ name: String, _ value: JSONValue?) {
        if let value { append(JSONValue.Field(name, value)) }
    }

    mutating func add(_ name: String, _ text: String?) { add(name, text.map(JSONValue.text)) }
    mutating func add(_ name: String, _ flag: Bool?) { add(name, flag.map(JSONValue.flag)) }
    mutating func add(_ name: String, _ integer: Int?) { add(name, integer.map { JSONValue.integer(Int64($0)) }) }
}
