/// An app, seen through its telemetry: who uses it, what is pushed to them, and how much of it works.
package struct AppProfile: Sendable {
    /// Its default name as an app of the service.
    package let slug: String
    /// The time zone of most of its users, and of its days.
    package let home: Zone
    /// The name of its Firebase project, which is part of one spelling of message ids.
    let project: String
    /// The language of its buttons, besides English.
    let language: String
    let places: [Place]
    /// Oldest first. Phones update to the newest one by one.
    let versions: [Version]
    let series: [Series]
    /// How much more or less people do on Saturdays and Sundays.
    let weekend: Double
    /// What it wants people to do.
    let aims: [Aim]
    /// What it tries besides.
    package var experiment: PlannedExperiment?

    /// Where a phone may be, and the language spoken there.
    struct Place: Sendable {
        let zone: Zone
        let locale: String
        let share: Double
    }

    /// One release of the app.
    struct Version: Sendable {
        let name: String
        /// The share of installs that begin with it.
        let share: Double
        /// The share of pushes for which the service extension records nothing.
        let receiptLoss: Double
        /// The share of stories that it cannot play.
        let fallback: Double
        /// Whether its service extension breaks on the last day.
        var breaksOnLastDay = false
        /// Whether it sometimes forgets to record which button was tapped.
        var forgetsButton = false

        func receiptLoss(isLastDay: Bool) -> Double { isLastDay && breaksOnLastDay ? 0.85 : receiptLoss }
    }
}

extension AppProfile {
    /// Its categories and buttons in the format of `PUT /v1/categories`, except for an unregistered button.
    package var categoryDocument: String {
        var seen: Set<String> = []
        let all = series + (experiment.map { [$0.series] } ?? [])
        let categories = all.map(\.category).filter { !$0.name.isEmpty && seen.insert($0.name).inserted }
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
