internal import JSON

/// The shape of Hive's `hive_push_actions.json`: actions by id with their titles, categories by id with their actions.
/// Hive's content extension shows the buttons of all of them.
extension DocumentReader {
    mutating func readHive(_ root: JSONValue) -> [Category] {
        guard let members = members(root, at: .root, known: ["actions", "categories"]) else { return [] }
        let actions = actions(members["actions"], at: Place.root.member("actions"))
        let place = Place.root.member("categories")
        guard let list = members["categories"] else {
            errors.add(place, "is required: the actions of each category, by its id")
            return []
        }
        guard let entries = entries(list, at: place, most: RegistryLimits.categories) else { return [] }
        if entries.isEmpty { warnings.add(place, "it is empty: everything that this set had registered is retired") }
        let known = Dictionary(actions.map { (ExactText($0.button.id), $0.button) }) { first, _ in first }
        var used: Set<ExactText> = []
        var categories: [Category] = []
        for (id, value) in entries {
            let place = place.member(id)
            let buttons = buttons(value, at: place, of: known)
            used.formUnion(buttons.map { ExactText($0.id) })
            guard let id = identifier(id, at: place) else { continue }
            categories.append(Category(id: id, buttons: buttons, contentExtension: true, path: place.path))
        }
        for action in actions where !used.contains(ExactText(action.button.id)) {
            warnings.add(action.place, "is in no category")
        }
        return categories
    }

    /// In the order of the document.
    private mutating func actions(_ value: JSONValue?, at place: Place) -> [(button: Button, place: Place)] {
        guard let value else {
            errors.add(place, "is required: the titles of each action, by its id")
            return []
        }
        var actions: [(button: Button, place: Place)] = []
        for (id, value) in entries(value, at: place, most: RegistryLimits.hiveActions) ?? [] {
            let place = place.member(id)
            let titles = titles(value, at: place, most: RegistryLimits.hiveLanguages, needsEnglish: true)
            _ = identifier(id, at: place)
            actions.append((Button(id: id, titles: titles, answer: HiveCategories.answer(of: id)), place))
        }
        return actions
    }

    private mutating func buttons(
        _ value: JSONValue, at place: Place, of known: [ExactText: Button]
    ) -> [Button] {
        guard let elements = elements(value, at: place, most: RegistryLimits.hiveButtons) else { return [] }
        if elements.isEmpty { warnings.add(place, "has no action") }
        var buttons: [Button] = []
        for (index, value) in elements.enumerated() {
            let place = place.element(index)
            guard let id = identifier(value, at: place) else { continue }
            guard let button = known[ExactText(id)] else {
                errors.add(place, "'actions' has no action \(String(shown: id))")
                continue
            }
            guard !buttons.contains(where: { ExactText($0.id) == ExactText(id) }) else {
                errors.add(place, "\(String(shown: id)) is given twice")
                continue
            }
            buttons.append(button)
        }
        return buttons
    }
}
