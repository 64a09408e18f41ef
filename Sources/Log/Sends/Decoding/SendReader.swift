internal import JSON
internal import Telemetry
internal import Values

/// The members of a send.
enum SendMember: Int, CaseIterable {
    case id, campaign, variant, category, thread, topic, analyticsLabel, sentAt, recipients, messageIDs, payload

    static let keys = JSONKeys(allCases.map(\.name))

    var name: StaticString {
        switch self {
        case .id: "id"
        case .campaign: "campaign"
        case .variant: "variant"
        case .category: "category"
        case .thread: "thread"
        case .topic: "topic"
        case .analyticsLabel: "analytics_label"
        case .sentAt: "sent_at"
        case .recipients: "recipients"
        case .messageIDs: "message_ids"
        case .payload: "payload"
        }
    }
}

extension SendMember {
    /// All names, to compare them with a description.
    package static var names: [String] { allCases.map { "\($0.name)" } }
}

/// The members of one send, with typed accessors. Of repeated members the last counts. Null and an empty string are
/// absent.
struct SendReader {
    /// Its path for error messages: `sends[3]`.
    let path: String
    private let fields: JSONFields

    init(_ object: JSONValue, path: String) {
        self.path = path
        fields = JSONFields(SendMember.keys)
        fields.find(in: object)
    }

    subscript(member: SendMember) -> JSONValue? { fields.value(of: member.rawValue) }

    func refusal(_ reason: RejectionReason, _ member: SendMember, _ problem: String) -> Rejection {
        Rejection(reason, "\(path).\(member.name): \(problem)")
    }

    /// The name of the send.
    func id() throws(Rejection) -> String {
        guard let value = self[.id] else {
            throw refusal(.missingField, .id, "is required, and must be neither null nor empty")
        }
        guard let text = value.text else { throw refusal(.invalidID, .id, "must be a string, not \(value.kind.words)") }
        guard text.count <= Bounds.identifier else {
            throw refusal(.invalidID, .id, "may have at most \(Bounds.identifier) bytes, has \(text.count)")
        }
        guard !text.holdsNUL else { throw refusal(.invalidID, .id, "it contains the character U+0000") }
        return UUID(utf8: text.bytes)?.description ?? text.string
    }

    /// An identifier that can be the key of a funnel.
    func identifier(_ member: SendMember) throws(Rejection) -> String? {
        guard let value = self[member] else { return nil }
        return try identifier(value, member)
    }

    func sentAt() throws(Rejection) -> Timestamp? {
        guard let value = self[.sentAt] else { return nil }
        guard let time = value.moment else {
            let hint = value.number.flatMap { Timestamp.hint(forEpoch: $0.double) }
            throw refusal(
                .invalidTime, .sentAt,
                "must be RFC 3339 with offset, or epoch milliseconds as a number, in the years 2000 to 9999"
                    + (hint.map { "; \($0)" } ?? ""))
        }
        return time
    }

    func recipients() throws(Rejection) -> Int64? {
        guard let value = self[.recipients] else { return nil }
        let bounds = SendBounds.recipients
        guard let number = value.number?.integer, bounds.contains(number) else {
            throw refusal(
                .invalidField, .recipients, "must be a whole number from \(bounds.lowerBound) to \(bounds.upperBound)")
        }
        return number
    }

    /// Each message once, in order.
    func messageIDs() throws(Rejection) -> [Send.MessageID]? {
        guard let value = self[.messageIDs] else { return nil }
        guard value.isArray else {
            throw refusal(.invalidField, .messageIDs, "must be an array, not \(value.kind.words)")
        }
        guard value.count <= SendBounds.messageIDs else {
            throw refusal(
                .invalidField, .messageIDs,
                "has \(value.count) entries, at most \(SendBounds.messageIDs) are allowed: "
                    + "report it as several sends, or give recipients instead"
            )
        }
        var ids: [Send.MessageID] = []
        var known: Set<[UInt8]> = []
        for (index, element) in value.elements.enumerated() where !element.isVoid {
            let id = Send.MessageID(try identifier(element, .messageIDs, at: "[\(index)]"))
            if known.insert(Array(id.key.utf8)).inserted { ids.append(id) }
        }
        return ids
    }

    /// The payload, if it is one.
    func payload() throws(Rejection) -> JSONValue? {
        guard let value = self[.payload] else { return nil }
        guard value.isObject else {
            throw refusal(.invalidField, .payload, "must be an object, not \(value.kind.words)")
        }
        return value
    }

    private func identifier(
        _ value: JSONValue, _ member: SendMember, at place: String = ""
    ) throws(Rejection) -> String {
        guard let text = value.text else {
            throw Rejection(.invalidField, "\(path).\(member.name)\(place): must be a string, not \(value.kind.words)")
        }
        guard text.count <= Bounds.identifier else {
            throw Rejection(
                .invalidField,
                "\(path).\(member.name)\(place): may have at most \(Bounds.identifier) bytes, has \(text.count)")
        }
        return text.string
    }
}

extension JSONValue {
    /// RFC 3339 text or epoch milliseconds, if it lies in the years 2000 to 9999.
    fileprivate var moment: Timestamp? {
        if let text { return Timestamp(rfc3339: text.string).flatMap { Timestamp.plausible.contains($0) ? $0 : nil } }
        return switch number {
        case .signed(let milliseconds): Timestamp(epochMilliseconds: milliseconds)
        case .double(let milliseconds): Timestamp(fractionalEpochMilliseconds: milliseconds)
        case .unsigned, nil: nil
        }
    }
}
