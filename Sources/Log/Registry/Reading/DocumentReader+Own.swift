internal import JSON

/// Our own shape: an array of categories, each with its buttons.
extension DocumentReader {
    mutating func readOwn(_ root: JSONValue) -> [Category] {
        guard let members = members(root, at: .root, known: ["categories"]), let list = members["categories"] else {
            return []
        }
        let place = Place.root.member("categories")
        guard let elements = elements(list, at: place, most: RegistryLimits.categories) else { return [] }
        if elements.isEmpty { warnings.add(place, "it is empty: everything that this set had registered is retired") }
        return items(elements, at: place, id: \.id) { reader, value, place in reader.category(value, at: place) }
    }

    /// What is read of the elements. An id that is already that of an earlier one is an error.
    private mutating func items<Item>(
        _ elements: [JSONValue], at place: Place, id: KeyPath<Item, String>,
        _ read: (inout Self, JSONValue, Place) -> Item?
    ) -> [Item] {
        var items: [Item] = []
        var places: [ExactText: Place] = [:]
        for (index, value) in elements.enumerated() {
            let place = place.element(index)
            guard let item = read(&self, value, place) else { continue }
            let name = item[keyPath: id]
            if let first = places[ExactText(name)] {
                errors.add(place.member("id"), "\(String(shown: name)) is already the id of \(first.path)")
            } else {
                places[ExactText(name)] = place
            }
            items.append(item)
        }
        return items
    }

    private mutating func category(_ value: JSONValue, at place: Place) -> Category? {
        guard
            let members = members(
                value, at: place,
                known: [
                    "id", "actions", "compact_actions", "intent_identifiers", "custom_dismiss", "content_extension",
                    "category_summary_format", "hidden_previews_body_placeholder",
                ])
        else { return nil }
        let id = identifier(members["id"], at: place.member("id"))
        let buttons = buttons(members["actions"], at: place.member("actions"))
        let compact = compactActions(members["compact_actions"], at: place.member("compact_actions"), of: buttons)
        let category = Category(
            id: id ?? "", buttons: buttons, compactActions: compact,
            intentIdentifiers: identifiers(
                members["intent_identifiers"], at: place.member("intent_identifiers"),
                most: RegistryLimits.intentIdentifiers),
            customDismiss: boolean(members["custom_dismiss"], at: place.member("custom_dismiss")) ?? false,
            contentExtension: boolean(members["content_extension"], at: place.member("content_extension")) ?? false,
            summaryFormat: text(
                members["category_summary_format"], at: place.member("category_summary_format")
            ).unlessEmpty,
            hiddenPreviewsPlaceholder: text(
                members["hidden_previews_body_placeholder"], at: place.member("hidden_previews_body_placeholder")
            )
            .unlessEmpty,
            path: place.path)
        return id == nil ? nil : category
    }

    private mutating func buttons(_ value: JSONValue?, at place: Place) -> [Button] {
        guard let value, let elements = elements(value, at: place, most: RegistryLimits.buttons) else { return [] }
        if elements.count > RegistryLimits.comfortableButtons {
            warnings.add(
                place,
                "has \(elements.count) actions; hardly anybody sees more than \(RegistryLimits.comfortableButtons)"
            )
        }
        return items(elements, at: place, id: \.id) { reader, value, place in reader.button(value, at: place) }
    }

    private mutating func button(_ value: JSONValue, at place: Place) -> Button? {
        guard
            let members = members(
                value, at: place,
                known: [
                    "id", "titles", "activation", "destructive", "authentication_required", "text_input", "answer",
                ])
        else { return nil }
        let id = identifier(members["id"], at: place.member("id"))
        let button = Button(
            id: id ?? "",
            titles: titles(
                members["titles"], at: place.member("titles"), most: RegistryLimits.languages, needsEnglish: false),
            activation: word(members["activation"], at: place.member("activation")),
            destructive: boolean(members["destructive"], at: place.member("destructive")),
            authenticationRequired: boolean(
                members["authentication_required"], at: place.member("authentication_required")),
            textInput: boolean(members["text_input"], at: place.member("text_input")),
            answer: word(members["answer"], at: place.member("answer")))
        return id == nil ? nil : button
    }

    private mutating func compactActions(_ value: JSONValue?, at place: Place, of buttons: [Button]) -> [String] {
        let ids = identifiers(value, at: place, most: RegistryLimits.compactActions)
        let known = Set(buttons.map { ExactText($0.id) })
        for (index, id) in ids.enumerated() where !known.contains(ExactText(id)) {
            warnings.add(place.element(index), "\(String(shown: id)) is not an action of this category")
        }
        if ids.count > RegistryLimits.shownCompactActions {
            warnings.add(place, "has \(ids.count) actions; a banner shows \(RegistryLimits.shownCompactActions)")
        }
        return ids
    }

    private mutating func identifiers(_ value: JSONValue?, at place: Place, most: Int) -> [String] {
        guard let value, let elements = elements(value, at: place, most: most) else { return [] }
        var ids: [String] = []
        var seen: Set<ExactText> = []
        for (index, value) in elements.enumerated() {
            let place = place.element(index)
            guard let id = identifier(value, at: place) else { continue }
            if !seen.insert(ExactText(id)).inserted { errors.add(place, "\(String(shown: id)) is given twice") }
            ids.append(id)
        }
        return ids
    }
}

extension String? {
    /// Nil for an empty text, which says nothing.
    fileprivate var unlessEmpty: String? { self?.isEmpty == true ? nil : self }
}
