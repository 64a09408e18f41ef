/// An app as its telemetry shows it: who has it, what is pushed to them, and how much of it works.
package struct AppProfile: Sendable {
    /// What it may be called as an app of the service.
    package let slug: String
    /// Where its people are at home, and where its days are counted.
    package let home: Zone
    /// The name of its project at Firebase, which stands in one of the spellings of message ids.
    let project: String
    /// In which its buttons are named beside English.
    let language: String
    let places: [Place]
    /// The oldest first; phones come to the newest one after the other.
    let versions: [Version]
    let series: [Series]
    /// How much more or less people do on Saturdays and Sundays.
    let weekend: Double

    /// Where a phone may be, and what is spoken there.
    struct Place: Sendable {
        let zone: Zone
        let locale: String
        let share: Double
    }

    /// One release of the app.
    struct Version: Sendable {
        let name: String
        /// Of the installs at the beginning.
        let share: Double
        /// Pushes of which the service extension says nothing.
        let receiptLoss: Double
        /// Stories that it cannot play.
        let fallback: Double
        /// On the last day something breaks its service extension.
        var breaksOnLastDay = false
        /// It forgets to say which button was tapped, now and then.
        var forgetsButton = false

        func receiptLoss(isLastDay: Bool) -> Double { isLastDay && breaksOnLastDay ? 0.85 : receiptLoss }
    }
}

extension AppProfile {
    /// Its categories and their buttons as they are registered, in the shape of `PUT /v1/categories`; but for a button
    /// that was forgotten.
    package var categoryDocument: String {
        var seen: Set<String> = []
        let categories = series.map(\.category).filter { !$0.name.isEmpty && seen.insert($0.name).inserted }
        return "{\"categories\":[\(categories.map { text(of: $0) }.joined(separator: ","))]}"
    }

    private func text(of category: Category) -> String {
        var object = ObjectText()
        object.add("id", category.name)
        let buttons = category.buttons.filter { !$0.isUnregistered }
        object.add("actions", raw: "[\(buttons.map { text(of: $0) }.joined(separator: ","))]")
        object.add("custom_dismiss", category.dismissed > 0)
        object.add("content_extension", category.expanded > 0 || category.playsStories)
        return object.text
    }

    private func text(of button: Category.Button) -> String {
        var titles = ObjectText()
        titles.add("en", button.title.english)
        titles.add(language, button.title.local)
        var object = ObjectText()
        object.add("id", button.id)
        object.add("titles", raw: titles.text)
        object.add("activation", button.isForeground ? "foreground" : "background")
        object.add("destructive", button.isDestructive)
        object.add("authentication_required", button.needsUnlocking)
        object.add("text_input", button.takesText)
        object.add("answer", button.answer)
        return object.text
    }
}
