/// How much of anything a document may have.
package enum RegistryLimits {
    /// Bytes of a document.
    package static let document = 1024 * 1024
    package static let categories = 1000
    /// Buttons of a category; iOS shows no more. Beyond four the rest is hard to reach.
    static let buttons = 10
    static let comfortableButtons = 4
    /// Hive's own limit.
    static let hiveButtons = 3
    /// Different actions in a document of Hive's shape.
    static let hiveActions = categories * hiveButtons
    static let languages = 64
    static let hiveLanguages = 16
    static let compactActions = 10
    /// What a banner shows.
    static let shownCompactActions = 2
    static let intentIdentifiers = 64
    /// Bytes of an identifier, and of a text that people read.
    static let identifier = 256
    static let text = 512
    /// Errors that are told; the rest is counted.
    package static let errors = 50
    package static let warnings = 50
}
