package import Telemetry
package import Values

extension Event {
    /// 2026-11-20T09:30:10Z
    package static let sampleTime = Timestamp(microseconds: 1_795_167_010_000_000)

    /// An event that is right in every member; name those that matter to the test.
    package static func sample(
        id: UUID = .random(), at: Timestamp = sampleTime, occurredAt: Timestamp? = nil, receivedAt: Timestamp? = nil,
        timeSource: TimeSource = .device, install: UUID = .random(), category: String? = "INFO_CATEGORY",
        interaction: Interaction = .expanded
    ) -> Event {
        Event(
            id: id, deviceAt: at, occurredAt: occurredAt ?? at, receivedAt: receivedAt ?? at, timeSource: timeSource,
            source: Source(installID: install, platform: "ios", appVersion: "4.2.0"),
            notification: Notification(id: "req-1", category: category), interaction: interaction)
    }
}

extension Event {
    /// What `log.event.codes` says of an event of this type, in shard 0, whose key is the notification's own id.
    package static func codes(of type: EventType) -> Int32 { Int32(type.rawValue) << 10 | 1 << 15 | 3 << 17 }
}

extension UUID {
    /// Any 128 bits.
    package static func random() -> UUID {
        UUID(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
    }
}
