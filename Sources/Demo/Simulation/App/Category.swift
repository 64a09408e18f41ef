/// A notification category, and what people do when they see its notifications.
struct Category: Sendable {
    let name: String
    /// The share of people who see one and open it.
    let opened: Double
    /// 0 if the category has no `custom_dismiss`: iOS does not report dismissals then.
    var dismissed = 0.0
    /// Expanded without a tap on anything; 0 if no content extension reports it.
    var expanded = 0.0
    var buttons: [Button] = []
    /// Without `mutable-content`, no service extension runs, so no receipt is written at once.
    var runsExtension = true
    /// Whether its content extension plays stories.
    var playsStories = false
    /// How often the app shows nothing while it is in the foreground.
    var suppressed = 0.05

    /// A button. Buttons are shown in this order.
    struct Button: Sendable {
        let id: String
        /// What people read: the app's language and English.
        let title: Title
        /// What a tap on it means: accept, decline, later or close.
        let answer: String
        /// The share of people who see the notification and tap the button.
        let tapped: Double
        var isForeground = false
        var isDestructive = false
        var needsUnlocking = false
        var takesText = false
        /// Nobody taps it any more from a week before the last day on.
        var isForgotten = false
        /// The registry does not know it.
        var isUnregistered = false
    }

    struct Title: Sendable {
        let english: String
        let local: String

        init(_ english: String, _ local: String) { (self.english, self.local) = (english, local) }
    }
}
