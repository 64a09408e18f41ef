extension Bellwether {
    /// The identifiers that the system gives to the two answers that no button stands for.
    public enum ActionIdentifier {
        /// Somebody tapped the notification itself.
        public static let open = "com.apple.UNNotificationDefaultActionIdentifier"
        /// Somebody dismissed it, in a category that asks to be told.
        public static let dismiss = "com.apple.UNNotificationDismissActionIdentifier"
    }

    /// Somebody answered a notification: opened it, dismissed it, or tapped one of its buttons.
    ///
    /// ```swift
    /// bellwether.responded(to: push, action: response.actionIdentifier)
    /// ```
    ///
    /// The same response reported twice by a process is one event: in the app, the same action on the same notification;
    /// in a content extension, whose buttons can be tapped again, the same within a second. A text that was typed is never
    /// looked at.
    ///
    /// - Parameters:
    ///   - push: The notification.
    ///   - action: The response's action identifier.
    ///   - handler: Who deals with it. A content extension that forwards a response leaves the recording to the app.
    ///   - launch: In what state the app was; without it, what the library has seen of that.
    public func responded(to push: Push, action: String, handledBy handler: Handler = .app, launch: Launch? = nil) {
        responded(to: push, action: action, handledBy: handler, launch: launch, as: nil)
    }

    /// The same, with the system's object for the response, by which a second report of it is known however late.
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
    /// The content extension showed a notification: somebody expanded it.
    public func contentExtensionShown(_ push: Push) { record(.expanded, of: push) }

    /// Somebody answered a notification in the content extension.
    ///
    /// - Parameters:
    ///   - push: The notification.
    ///   - action: The response's action identifier.
    ///   - isForwarded: Whether the extension hands the response on to the app, which then records it.
    ///   - response: The system's object for the response.
    func contentExtension(_ push: Push, answeredWith action: String, isForwarded: Bool, as response: AnyObject?) {
        if !isForwarded { responded(to: push, action: action, handledBy: .contentExtension, as: response) }
    }
}
