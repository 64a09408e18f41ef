internal import JSON

/// Reads a document strictly and records all errors in it, not only the first.
struct DocumentReader {
    var errors = RemarkList(most: RegistryLimits.errors)
    var warnings = RemarkList(most: RegistryLimits.warnings)

    /// If there are errors, the result is nil or useless.
    mutating func read(_ root: JSONValue) -> CategoryDocument? {
        var kinds: [String: JSONValue.Kind] = [:]
        for (key, value) in root.members where key.spells("categories") || key.spells("actions") {
            kinds[key.string] = value.kind
        }
        switch (kinds["categories"], kinds["actions"]) {
        case (.array, _):
            let categories = readOwn(root)
            return CategoryDocument(set: .own, categories: categories, warnings: warnings.told)
        case (.object, _), (_, .object):
            let categories = readHive(root)
            return CategoryDocument(set: .hive, categories: categories, warnings: warnings.told)
        default:
            errors.add(
                .root,
                "it has neither of the two shapes: ours has an array 'categories', "
                    + "hive_push_actions.json has objects 'actions' and 'categories'"
            )
            return nil
        }
    }
}

// The elements of both document shapes. Each method returns nil if the value is wrong, and records the error.
extension DocumentReader {
    /// The members of an object, which may have only these. A null counts as absent.
    mutating func members(_ value: JSONValue, at place: Place, known: [String]) -> [String: JSONValue]? {
        guard value.isObject else {
            errors.add(place, "must be an object, not \(value.kind.words)")
            return nil
        }
        var members: [String: JSONValue] = [:]
        var seen: Set<String> = []
        for (text, value) in value.members {
            let key = text.string
            guard known.contains(key) else {
                errors.add(place.member(key), "unknown member; the members here are \(known.joined(separator: ", "))")
                continue
            }
            guard seen.insert(key).inserted else {
                errors.add(place.member(key), "is given twice")
                continue
            }
            if !value.isNull { members[key] = value }
        }
        return members
    }

    /// The members of an object whose keys the user has chosen.
    mutating func entries(_ value: JSONValue, at place: Place, most: Int) -> [(key: String, value: JSONValue)]? {
        guard value.isObject else {
            errors.add(place, "must be an object, not \(value.kind.words)")
            return nil
        }
        guard value.count <= most else {
            errors.add(place, "has \(value.count) members, at most \(most) are allowed")
            return nil
        }
        var entries: [(key: String, value: JSONValue)] = []
        var seen: Set<ExactText> = []
        for (text, value) in value.members {
            let key = text.string
            guard seen.insert(ExactText(key)).inserted else {
                errors.add(place.member(key), "is given twice")
                continue
            }
            entries.append((key, value))
        }
        return entries
    }

    /// The elements of an array.
    mutating func elements(_ value: JSONValue, at place: Place, most: Int) -> [JSONValue]? {
        guard value.isArray else {
            errors.add(place, "must be an array, not \(value.kind.words)")
            return nil
        }
        guard value.count <= most else {
            errors.add(place, "has \(value.count) elements, at most \(most) are allowed")
            return nil
        }
        return Array(value.elements)
    }

    mutating func boolean(_ value: JSONValue?, at place: Place) -> Bool? {
        guard let value else { return nil }
        if value.boolean == nil { errors.add(place, "must be true or false, not \(value.kind.words)") }
        return value.boolean
    }

    mutating func word<Word: RawRepresentable & CaseIterable>(
        _ value: JSONValue?, at place: Place
    ) -> Word? where Word.RawValue == String {
        guard let value else { return nil }
        if let text = value.text?.string, let word = Word(rawValue: text) { return word }
        let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
        let found = value.text.map { String(shown: $0.string) } ?? value.kind.words
        errors.add(place, "must be one of \(words), not \(found)")
        return nil
    }

    /// A text that people read.
    mutating func text(_ value: JSONValue?, at place: Place) -> String? {
        guard let value else { return nil }
        guard let text = value.text?.string else {
            errors.add(place, "must be a string, not \(value.kind.words)")
            return nil
        }
        guard text.utf8.count <= RegistryLimits.text else {
            errors.add(place, "has \(text.utf8.count) bytes, at most \(RegistryLimits.text) are allowed")
            return nil
        }
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            errors.add(place, "must not contain control characters")
            return nil
        }
        return text
    }

    /// An identifier that is required.
    mutating func identifier(_ value: JSONValue?, at place: Place) -> String? {
        guard let value else {
            errors.add(place, "is required")
            return nil
        }
        guard let text = value.text?.string else {
            errors.add(place, "must be a string, not \(value.kind.words)")
            return nil
        }
        return identifier(text, at: place)
    }

    /// Checks an identifier that is present.
    mutating func identifier(_ text: String, at place: Place) -> String? {
        if let fault = IdentifierRule.fault(of: text) {
            errors.add(place, fault)
            return nil
        }
        return text
    }

    /// Titles by language.
    mutating func titles(
        _ value: JSONValue?, at place: Place, most: Int, needsEnglish: Bool
    ) -> [Button.Title] {
        guard let value else {
            errors.add(place, "is required: the button's titles by language")
            return []
        }
        guard let entries = entries(value, at: place, most: most) else { return [] }
        if entries.isEmpty { errors.add(place, "must have at least one title") }
        var titles: [Button.Title] = []
        var languages: Set<String> = []
        for (language, value) in entries {
            let place = place.member(language)
            guard language.wholeMatch(of: /[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*/) != nil else {
                errors.add(place, "a language is written as en, pt-BR or zh-Hans")
                continue
            }
            if !languages.insert(language.lowercased()).inserted { errors.add(place, "is given twice") }
            guard let text = text(value, at: place) else { continue }
            guard text.unicodeScalars.contains(where: { !$0.properties.isWhitespace }) else {
                errors.add(place, "must not be blank")
                continue
            }
            titles.append(Button.Title(language, text))
        }
        if needsEnglish, !entries.isEmpty, !languages.contains("en") {
            errors.add(place.member("en"), "is required: Hive falls back to English")
        }
        return titles
    }
}
