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
