import Telemetry

/// An event as JSON, member by member, so that a test changes one and leaves the rest.
package struct EventText: Sendable {
    private var members: [(key: String, value: String)]

    /// A complete event of a type, with the members that this type requires; of a type that is none, like most.
    package init(_ name: String = "notification.received", id: String = "0199f1c2-7c1e-7d0a-b1c4-3f0a6f1b2c3d") {
        members = [("id", "\"\(id)\""), ("type", "\"\(name)\""), ("at", "\"2026-11-20T09:30:10.001Z\"")]
        let type = EventType(wire: name)
        if type?.hasNotification ?? true { members.append(("notification", #"{"id":"req-1"}"#)) }
        for member in type?.required ?? [] where !members.contains(where: { $0.key == member.key }) {
            members.append((member.key, member.sample))
        }
    }

    /// The event with this JSON in the place of a member, or after the others; without the member for nil.
    package func with(_ key: String, _ value: String?) -> EventText {
        var changed = self
        let index = members.firstIndex { $0.key == key }
        if let index { changed.members.remove(at: index) }
        if let value { changed.members.insert((key, value), at: index ?? changed.members.count) }
        return changed
    }

    /// The event with a sample in its place, and what else its object needs.
    package func with(_ sample: Sample) -> EventText {
        let (member, key) = (sample.member, sample.member.key)
        return switch member.declaration.object {
        case .event where member == .notification && !sample.isRefused: self
        case .event: with(key, sample.json)
        case .notification:
            with(
                "notification", "{\"\(member == .deliveryID ? "id" : "delivery_id")\":\"d\",\"\(key)\":\(sample.json)}")
        case .source: with("source", "{\"\(key)\":\(sample.json)}")
        case .settings: with("source", "{\"settings\":{\"\(key)\":\(sample.json)}}")
        case .media: with("media", "{\"\(key)\":\(sample.json)}")
        }
    }

    /// The event with more text before its closing brace, repeated keys and all.
    package func appending(_ text: String) -> String { String(self.text.dropLast()) + ",\(text)}" }

    package var text: String { "{" + members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}" }
}
