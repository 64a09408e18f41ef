package import Values

/// A mismatch between what is registered and what events report.
package struct Finding: Sendable, Equatable {
    package enum Severity: String, Sendable, CaseIterable {
        /// Was tapped, but never registered.
        case unregistered
        /// Contradicts every registration so far.
        case impossible
        /// Possible, but probably not intended.
        case warning
    }

    package enum Kind: String, Sendable {
        case unregisteredCategory = "unregistered_category"
        case unregisteredAction = "unregistered_action"
        case noCategory = "no_category"
        case actionIndex = "action_index"
        case actionCount = "action_count"
        case activation
        case destructive
        case authenticationRequired = "authentication_required"
        case textInput = "text_input"
        case unknownCompactAction = "unknown_compact_action"
        case dismissed = "dismissed_without_custom_dismiss"
        case expanded = "expanded_without_content_extension"
        case retired = "retired_action_tapped"
        case manyButtons = "many_buttons"
        case twoSets = "two_sets"
        case mediaWithButtons = "media_with_buttons"
        case audio = "audio_media"
    }

    /// What `count` counts.
    package enum Unit: String, Sendable { case taps, deliveries }

    package let kind: Kind
    package let category: String
    /// Nil if it concerns the category.
    package let action: String?
    /// How often it occurred; nil for a finding in the registry itself.
    package let count: Int64?
    package let unit: Unit
    /// The first day on which it occurred.
    package let since: CivilDate?
    /// The finding, as a sentence.
    package let detail: String

    init(
        _ kind: Kind, _ category: String, action: String? = nil, count: Int64? = nil, unit: Unit = .taps,
        since: CivilDate? = nil, _ detail: String
    ) {
        self.kind = kind
        self.category = category
        self.action = action
        self.count = count
        self.unit = unit
        self.since = since
        self.detail = detail
    }

    package var severity: Severity {
        switch kind {
        case .unregisteredCategory, .unregisteredAction: .unregistered
        case .actionIndex, .actionCount, .activation, .destructive, .authenticationRequired, .textInput,
            .unknownCompactAction, .dismissed, .expanded:
            .impossible
        case .noCategory, .retired, .manyButtons, .twoSets, .mediaWithButtons, .audio: .warning
        }
    }

    /// What to do about it, as a sentence.
    package var advice: String {
        switch kind {
        case .unregisteredCategory:
            "Import the category with its buttons, or send these notifications with a category that is registered."
        case .unregisteredAction:
            "Add the action to the category and import it again, or correct the identifier where the app registers it."
        case .noCategory: "Let the app send notification.category with its events."
        case .actionIndex, .actionCount:
            "Import the buttons in the number and order in which the app registers them with iOS."
        case .activation, .destructive, .authenticationRequired, .textInput:
            "Import the button as the app registers it with iOS, or correct it there."
        case .unknownCompactAction: "Name an action of the category, or take it out of compact_actions."
        case .dismissed: "Import the category with custom_dismiss: the app evidently registers it that way."
        case .expanded: "Import the category with content_extension: the app evidently has one for it."
        case .retired: "Old versions of the app still show it; if it is to stay, import it again."
        case .manyButtons: "iOS shows two in a banner and the rest after a scroll: keep the best four."
        case .twoSets: "Keep it in one of the sets."
        case .mediaWithButtons:
            "Use media or buttons: the content extension shows the buttons, and only a thumbnail of the media."
        case .audio:
            "Send images or video: audio in a push has made iPhones restart their home screen "
                + "beside apps that play sound."
        }
    }
}
