extension Bellwether {
    /// A notification arrived.
    ///
    /// ```swift
    /// bellwether.received(push, .foreground(presentation: [.banner, .sound]))
    /// ```
    ///
    /// - Parameters:
    ///   - push: The notification.
    ///   - receipt: How the app knows. A ``Receipt/background(_:)`` one is recorded only if the payload has
    ///     `content-available`: for a visible push without it that callback fires when somebody taps.
    public func received(_ push: Push, _ receipt: Receipt) {
        if case .background = receipt, !push.wakesApp { return }
        var members = receipt.members
        members.add("summary_argument_count", push.summaryArgumentCount)
        record(.received, of: push, members)
    }

    /// The notifications that lie in the notification centre: of each it is recorded that it arrived.
    ///
    /// Call it when the app starts or comes to the front: it finds what arrived while no extension ran. The event of a
    /// notification has the same id whenever and wherever it is recorded, so that repeating it changes nothing.
    ///
    /// - Parameter delivered: The notifications with their ``Request/deliveredAt``; without it nothing is recorded.
    public func sweep(_ delivered: [Push]) {
        guard isRecording else { return }
        var events: [(push: Push, id: EventID, at: Moment)] = []
        for push in delivered {
            guard let key = push.key, let date = push.deliveredAt else { continue }
            let at = Moment(date)
            events.append((push, EventID(deriving: EventType.received.rawValue, "delivered_list", key, "\(at)"), at))
        }
        var unsure: Set<EventID> = []
        for id in swept.unknown(among: events.map(\.id)) {
            guard let event = events.first(where: { $0.id == id }) else { continue }
            var members = [JSONValue.Field("via", .text("delivered_list"))]
            members.add("summary_argument_count", event.push.summaryArgumentCount)
            if record(.received, of: event.push, at: event.at, id: event.id, members) != .kept { unsure.insert(id) }
        }
        // What could not be written down is told by the next sweep. So is what waits in memory, which may not come to the
        // disk: told twice it is still one event.
        swept.remember(events.map(\.id).filter { !unsure.contains($0) })
    }
}
