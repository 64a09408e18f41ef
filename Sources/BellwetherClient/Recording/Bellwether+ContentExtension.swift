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
