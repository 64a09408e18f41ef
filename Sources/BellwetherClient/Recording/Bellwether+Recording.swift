extension Bellwether {
    /// Reads a notification's payload: the `userInfo` of its content, or what the remote-notification callback was given.
    ///
    /// ```swift
    /// let push = bellwether.push(content.userInfo, request: .init(identifier: request.identifier))
    /// ```
    ///
    /// - Parameters:
    ///   - payload: The dictionary, as the system gave it.
    ///   - request: What the system knows of the notification beside the payload.
    public func push(_ payload: [AnyHashable: Any], request: Request = Request()) -> Push {
        let push = Push(payload, request: request, keys: keys)
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

    /// Writes an event down.
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
        return recorder.record(
            Draft(id: id ?? EventID(at: at), type: type, at: at, notification: push.members, members: members))
    }
}
