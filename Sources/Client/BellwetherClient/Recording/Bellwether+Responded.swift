extension Bellwether {
    /// The system's identifiers for the two responses that are not buttons.
    public enum ActionIdentifier {
        /// Somebody tapped the notification itself.
        public static let open = "com.apple.UNNotificationDefaultActionIdentifier"
        /// Somebody dismissed it. Only categories that ask for this report it.
        public static let dismiss = "com.apple.UNNotificationDismissActionIdentifier"
    }

    /// Records that somebody responded to a notification: opened it, dismissed it, or tapped one of its buttons.
    ///
    /// ```swift
    /// bellwether.responded(to: push, action: response.actionIdentifier)
    /// ```
    ///
    /// If a process reports the same response twice, it is recorded once. In the app, responses with the same action on
    /// the same notification are the same. In a content extension, whose buttons can be tapped again, they must also
    /// come within a second. Typed text is never read.
    ///
    /// - Parameters:
    ///   - push: The notification.
    ///   - action: The response's action identifier.
    ///   - handler: Who handles it. If a content extension forwards a response, the app records it.
    ///   - launch: The state of the app. If you leave it out, the library uses the state that it observed.
    public func responded(to push: Push, action: String, handledBy handler: Handler = .app, launch: Launch? = nil) {
        responded(to: push, action: action, handledBy: handler, launch: launch, as: nil)
    }

    /// Does the same with the system's response object, which identifies a second report of it, no matter how late.
    func responded(
        to push: Push, action: String, handledBy handler: Handler, launch: Launch? = nil, as response: AnyObject?
    ) {
        guard isRecording else { return }
        let told = ResponseMemory.Response(push, action: action, handler: handler)
        guard isNew(told, as: response) else { return }
        let recorded: Recorded
        let launch = launch ?? (handler == .app ? activity.launch : nil)
        var members: [JSONValue.Field] = []
        switch action {
        case ActionIdentifier.open:
            members.add("launch", launch?.rawValue)
            recorded = record(.opened, of: push, members)
        case ActionIdentifier.dismiss:
            recorded = record(.dismissed, of: push)
        default:
            guard let id = action.fitting(Bounds.identifier) else {
                return report(
                    .misused, "A tap was not recorded: its action identifier is empty, or longer than 256 bytes.")
            }
            members.add("action_id", id)
            members += category(push.category)?.members(of: id) ?? []
            members.add("handled_in", handler.rawValue)
            members.add("launch", launch?.rawValue)
            recorded = record(.actionTapped, of: push, members)
        }
        if recorded == .lost { forget(told, as: response) }
    }
}

extension Bellwether {
    /// Records that somebody expanded a notification, so that the content extension showed it.
    public func contentExtension(showed push: Push) {
        record(.expanded, of: push)
        flushInExtension()
    }

    /// Records that somebody responded to a notification in the content extension.
    ///
    /// - Parameters:
    ///   - push: The notification.
    ///   - action: The response's action identifier.
    ///   - isForwarded: Whether the extension forwards the response to the app, which then records it.
    ///   - response: The system's object for the response.
    func contentExtension(_ push: Push, answeredWith action: String, isForwarded: Bool, as response: AnyObject?) {
        if !isForwarded { responded(to: push, action: action, handledBy: .contentExtension, as: response) }
    }
}
