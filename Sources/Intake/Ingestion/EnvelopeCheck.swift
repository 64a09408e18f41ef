package import Envelopes
internal import ServiceRuntime
package import Telemetry
package import Values

/// The verdicts on an envelope's events, as far as the envelope alone shows: it is decoded as by the service, without a
/// database.
package struct EnvelopeCheck: Sendable {
    /// One event.
    package enum Fate: Sendable {
        case accepted(Event)
        /// The same event comes earlier in the envelope.
        case duplicate(Event)
        case rejected(id: UUID?, Rejection)
    }

    /// What is shown of an event that can be read.
    package struct Event: Sendable {
        package let id: UUID
        package let type: EventType
        /// What goes into the column `extra`.
        package let extra: String?
        /// What stands in it, and what was probably meant.
        package var unread: [UnreadMember] { extra.map { UnreadMember.all(in: $0, of: type) } ?? [] }
    }

    /// In the order of the envelope.
    package let fates: [Fate]
    /// What is wrong with its `dropped`; this rejects no event.
    package let invalidDrops: [String]

    /// Throws if nothing of it can be read.
    package init(_ body: [UInt8], receivedAt: Timestamp) throws(EnvelopeError) {
        struct Identity: Hashable {
            let id: UUID
            let install: UUID
            let at: Timestamp
        }
        let envelope = try EnvelopeDecoder().decode(body: body, receivedAt: receivedAt)
        var known: Set<Identity> = []
        var rejected = envelope.rejected[...]
        fates = envelope.events.enumerated().map { index, record in
            if let first = rejected.first, first.index == index {
                rejected.removeFirst()
                return .rejected(id: first.id, first.rejection)
            }
            let extra = record.extra.isEmpty ? nil : envelope.text(record.extra)
            let event = Event(id: record.id, type: record.type, extra: extra)
            let identity = Identity(id: record.id, install: envelope.install(of: index), at: record.deviceAt)
            return known.insert(identity).inserted ? .accepted(event) : .duplicate(event)
        }
        invalidDrops = envelope.invalidDrops
    }

    /// Whether no event would be rejected.
    package var isClean: Bool { counts.rejected == 0 }

    private var counts: (accepted: Int, duplicate: Int, rejected: Int) {
        fates.reduce(into: (0, 0, 0)) { counts, fate in
            switch fate {
            case .accepted: counts.0 += 1
            case .duplicate: counts.1 += 1
            case .rejected: counts.2 += 1
            }
        }
    }

    /// A line for each event, and the sums.
    package var text: String {
        var text = ""
        for (index, fate) in fates.enumerated() {
            switch fate {
            case .accepted(let event):
                text += "events[\(index)]  accepted  \(event.type.name)"
                if let extra = event.extra { text += "  extra: \(String(printable: extra))" }
                for member in event.unread {
                    text += "\n    \(String(printable: member.path)): \(String(printable: member.advice))"
                }
            case .duplicate(let event):
                text += "events[\(index)]  duplicate  \(event.type.name): the envelope already has the same event"
            case .rejected(_, let rejection):
                text +=
                    "events[\(index)]  rejected  \(rejection.reason.rawValue): \(String(printable: rejection.detail))"
            }
            text += "\n"
        }
        for problem in invalidDrops { text += "\(String(printable: problem))\n" }
        let counts = counts
        return text + "accepted \(counts.accepted), duplicate \(counts.duplicate), rejected \(counts.rejected)\n"
    }

    /// One object, in a line.
    package var json: String {
        let results = fates.enumerated().map { index, fate in
            let members: [(String, any JSONWritable)] =
                switch fate {
                case .accepted(let event): [("result", "accepted")] + Self.members(of: event)
                case .duplicate(let event): [("result", "duplicate")] + Self.members(of: event)
                case .rejected(let id, let rejection):
                    [
                        ("result", "rejected"), ("id", id?.description), ("reason", rejection.reason.rawValue),
                        ("detail", rejection.detail),
                    ]
                }
            return JSONObject(members).preceded(by: "index", index)
        }
        let counts = counts
        let object: JSONObject = [
            "accepted": counts.accepted, "duplicate": counts.duplicate, "rejected": counts.rejected,
            "results": results, "invalid_dropped": invalidDrops,
        ]
        return object.json + "\n"
    }

    private static func members(of event: Event) -> [(String, any JSONWritable)] {
        [
            ("id", "\(event.id)"), ("type", event.type.name), ("extra", event.extra.map { WrittenJSON($0) }),
            ("unread", event.unread.map { $0.object(at: nil) }),
        ]
    }
}

extension UnreadMember {
    /// With the event's index if there is one.
    func object(at index: Int?) -> JSONObject {
        let object: JSONObject = ["member": path, "advice": advice]
        return index.map { object.preceded(by: "index", $0) } ?? object
    }
}
