extension Bellwether {
    /// Records that a notification arrived.
    ///
    /// ```swift
    /// bellwether.received(push, .foreground(presentation: [.banner, .sound]))
    /// ```
    ///
    /// - Parameters:
    ///   - push: The notification.
    ///   - receipt: How the app knows. A ``Receipt/background(_:)`` is recorded only if the payload has
    ///     `content-available`: for other payloads, the system makes that call when somebody taps.
    public func received(_ push: Push, _ receipt: Receipt) {
        if case .background = receipt, !push.wakesApp { return }
        var members = receipt.members
        members.add("summary_argument_count", push.summaryArgumentCount)
        record(.received, of: push, members)
    }

    /// Records the arrival of the notifications that are in the notification centre.
    ///
    /// Call it when the app starts or comes to the front. It finds notifications that arrived while no extension ran.
    /// The arrival of a notification has the same event id whenever and wherever it is recorded, so repeating the call
    /// changes nothing.
    ///
    /// - Parameter delivered: The notifications with their ``Request/deliveredAt``. Those without it are not recorded.
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
        // The next sweep repeats events that could not be written, and events that wait in memory and may never reach
        // the disk. Recorded twice, it is still one event.
        swept.remember(events.map(\.id).filter { !unsure.contains($0) })
    }
}

extension Bellwether {
    /// Reads a notification's payload: the `userInfo` of its content, or the argument of the remote-notification
    /// callback.
    ///
    /// ```swift
    /// let push = bellwether.push(content.userInfo, request: .init(identifier: request.identifier))
    /// ```
    ///
    /// - Parameters:
    ///   - payload: The dictionary, as the system gave it.
    ///   - request: What the system knows of the notification beside the payload.
    public func push(_ payload: [AnyHashable: Any], request: Request = Request()) -> Push {
        var push = Push(payload, request: request, keys: keys)
        if !recordsSummaryArgument { push.summaryArgument = nil }
        if let id = push.firebaseInstallationID { source.withLock { $0.payloadFirebaseID = id } }
        if !push.omitted.isEmpty {
            let members = push.omitted.joined(separator: ", ")
            report(
                .leftOut,
                "Of a notification this was left out: \(members). The service takes identifiers of at most 256 bytes.")
        }
        if push.isNamedByCollapseID, isFirstCollapsed() {
            report(
                .collapsed,
                """
                A notification is known only by a request identifier that looks like a collapse id: all that have the same \
                count as one delivery. Put a unique id into the payload and name it in PayloadKeys.deliveryID.
                """)
        }
        return push
    }

    /// Records an event.
    @discardableResult
    func record(
        _ type: EventType, of push: Push, at moment: Moment? = nil, id: EventID? = nil,
        _ members: [JSONValue.Field] = []
    ) -> Recorded {
        guard isRecording else { return .lost }
        guard push.key != nil else {
            report(
                .unidentified,
                """
                \(type.rawValue) was not recorded: the notification has neither Firebase's message id nor a delivery id \
                nor a request identifier. Name the payload's own id in PayloadKeys.deliveryID.
                """)
            return .lost
        }
        let at = moment ?? clock.now
        return write(Draft(id: id ?? EventID(at: at), type: type, at: at, notification: push.members, members: members))
    }

    /// Stores an event.
    @discardableResult
    func write(_ draft: Draft) -> Recorded {
        let recorded = recorder.record(draft)
        log.note("\(draft.type.rawValue) \(draft.id): \(recorded)")
        return recorded
    }
}
