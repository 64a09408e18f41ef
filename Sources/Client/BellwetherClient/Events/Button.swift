extension Bellwether {
    /// A button of a notification, as the app registered it.
    public struct Button: Sendable, Hashable {
        /// The action's identifier.
        public var id: String
        /// Whether a tap brings the app to the front.
        public var opensApp: Bool
        /// Whether it is shown as destructive.
        public var isDestructive: Bool
        /// Whether the device must be unlocked for it.
        public var requiresAuthentication: Bool
        /// Whether it asks for text. The text itself is never recorded.
        public var asksForText: Bool

        /// Creates a description of a button.
        public init(
            id: String, opensApp: Bool = false, isDestructive: Bool = false, requiresAuthentication: Bool = false,
            asksForText: Bool = false
        ) {
            self.id = id
            self.opensApp = opensApp
            self.isDestructive = isDestructive
            self.requiresAuthentication = requiresAuthentication
            self.asksForText = asksForText
        }
    }

    /// A category of notifications with its buttons, as the app registered it.
    public struct Category: Sendable, Hashable {
        /// The category's identifier.
        public var id: String
        /// Its buttons, in their order.
        public var buttons: [Button]

        /// Creates a description of a category.
        public init(id: String, buttons: [Button]) {
            self.id = id
            self.buttons = buttons
        }
    }

    /// The state of the app when somebody responded to a notification.
    public enum Launch: String, Sendable {
        /// It was not running, or had not been in front since it was started.
        case cold
        /// It was in the background.
        case warm
        /// It was in front.
        case foreground
    }

    /// Who handled a button.
    public enum Handler: String, Sendable {
        /// The app.
        case app
        /// The content extension, which did not forward it.
        case contentExtension = "content_extension"
    }
}

extension Bellwether.Category {
    /// The members of an event that describe a button of the category.
    func members(of action: String) -> [JSONValue.Field] {
        var fields: [JSONValue.Field] = []
        guard let index = buttons.firstIndex(where: { $0.id == action }) else { return fields }
        let button = buttons[index]
        fields.add("action_index", index)
        fields.add("action_count", buttons.count)
        fields.add("activation", button.opensApp ? "foreground" : "background")
        fields.add("destructive", button.isDestructive)
        fields.add("authentication_required", button.requiresAuthentication)
        fields.add("text_input", button.asksForText)
        return fields
    }
}
