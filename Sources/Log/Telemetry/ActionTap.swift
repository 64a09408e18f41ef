/// A tap on one of a notification's buttons.
package struct ActionTap: Hashable, Sendable {
    package var actionID: String
    /// The button's place, from 0.
    package var actionIndex: Int64?
    package var actionCount: Int64?
    package var activation: Activation?
    package var destructive: Bool?
    package var authenticationRequired: Bool?
    /// Whether the button asks for text; the text itself is never collected.
    package var textInput: Bool?
    package var handledIn: HandledIn?
    package var launch: Launch?

    package init(
        actionID: String, actionIndex: Int64? = nil, actionCount: Int64? = nil, activation: Activation? = nil,
        destructive: Bool? = nil, authenticationRequired: Bool? = nil, textInput: Bool? = nil,
        handledIn: HandledIn? = nil, launch: Launch? = nil
    ) {
        self.actionID = actionID
        self.actionIndex = actionIndex
        self.actionCount = actionCount
        self.activation = activation
        self.destructive = destructive
        self.authenticationRequired = authenticationRequired
        self.textInput = textInput
        self.handledIn = handledIn
        self.launch = launch
    }
}

/// Whether a button brings the app to the front.
package enum Activation: Int16, WireEnum {
    case foreground = 1
    case background

    package var wire: String {
        switch self {
        case .foreground: "foreground"
        case .background: "background"
        }
    }
}

/// What handled the tap.
package enum HandledIn: Int16, WireEnum {
    case app = 1
    case contentExtension

    package var wire: String {
        switch self {
        case .app: "app"
        case .contentExtension: "content_extension"
        }
    }
}
