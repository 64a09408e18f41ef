/// A notification category as an app registers it: its identifier and its buttons.
package struct Category: Sendable, Equatable {
    package var id: String
    package var buttons: [Button] = []
    /// The buttons that a banner shows, by id.
    package var compactActions: [String] = []
    package var intentIdentifiers: [String] = []
    /// Whether iOS reports when a person dismisses one of its notifications.
    package var customDismiss = false
    /// Whether a content extension shows its notifications, which reveals who has seen the buttons.
    package var contentExtension = false
    package var summaryFormat: String?
    package var hiddenPreviewsPlaceholder: String?
    /// Its path in its document.
    package var path: String = ""
}

/// A button of a category. What the document does not say is nil.
package struct Button: Sendable, Equatable {
    /// Titles are in the order of the document.
    package struct Title: Sendable, Equatable {
        package var language: String
        package var text: String

        package init(_ language: String, _ text: String) {
            self.language = language
            self.text = text
        }
    }

    /// What a tap does to the app.
    package enum Activation: String, Sendable, CaseIterable { case foreground, background }

    /// What a tap means.
    package enum Answer: String, Sendable, CaseIterable { case accept, decline, later, close }

    package var id: String
    package var titles: [Title]
    package var activation: Activation?
    package var destructive: Bool?
    package var authenticationRequired: Bool?
    package var textInput: Bool?
    package var answer: Answer?

    /// Its name in a report: the English title, or else the first one.
    package var title: String? {
        (titles.first { $0.language.lowercased() == "en" } ?? titles.first)?.text
    }
}

/// A set of categories that is imported as one: importing it again replaces this set and no other.
package enum CategorySet: String, Sendable, CaseIterable {
    /// From a document of our own shape.
    case own
    /// From a document of Hive's shape.
    case hive
    case presetHive = "preset:hive"
    case presetPushwooshStories = "preset:pushwoosh-stories"
}

/// Limits for documents.
package enum RegistryLimits {
    /// Bytes of a document.
    package static let document = 1024 * 1024
    package static let categories = 1000
    /// Buttons of a category; iOS shows no more. From the fifth on they are hard to reach.
    static let buttons = 10
    static let comfortableButtons = 4
    /// Hive's own limit.
    static let hiveButtons = 3
    /// Different actions in a document of Hive's shape.
    static let hiveActions = categories * hiveButtons
    static let languages = 64
    static let hiveLanguages = 16
    static let compactActions = 10
    /// How many a banner shows.
    static let shownCompactActions = 2
    static let intentIdentifiers = 64
    /// Bytes of an identifier, and of a text for people.
    static let identifier = 256
    static let text = 512
    /// Errors that are listed; the rest is counted.
    package static let errors = 50
    package static let warnings = 50
}
