/// A notification category, with what people do with it when they see it.
struct Category: Sendable {
    let name: String
    /// Of those who see one.
    let opened: Double
    /// 0 where the category has no `custom_dismiss`: iOS does not tell then.
    var dismissed = 0.0
    /// Shown large without anything being tapped; 0 where no content extension tells.
    var expanded = 0.0
    var buttons: [Button] = []
    /// Without `mutable-content` no service extension runs, so no receipt is written at once.
    var runsExtension = true
    /// Its content extension is a player of stories.
    var playsStories = false
    /// How often the app in the foreground lets it show to nobody.
    var suppressed = 0.05

    /// A button, in the order in which they are shown.
    struct Button: Sendable {
        let id: String
        /// What people read, in the app's language and in English.
        let title: Title
        /// What a tap of it says: accept, decline, later or close.
        let answer: String
        /// Of those who see the notification.
        let tapped: Double
        var isForeground = false
        var isDestructive = false
        var needsUnlocking = false
        var takesText = false
        /// Nobody taps it any more since a week before the last day.
        var isForgotten = false
        /// Nobody has told the registry of it.
        var isUnregistered = false
    }

    struct Title: Sendable {
        let english: String
        let local: String

        init(_ english: String, _ local: String) { (self.english, self.local) = (english, local) }
    }
}
