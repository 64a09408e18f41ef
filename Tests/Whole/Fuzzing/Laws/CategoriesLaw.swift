import JSON
import Registry
import ServiceRuntime

/// What holds for every document of categories that anybody may register.
package enum CategoriesLaw {
    /// Each law that a document broke, in words.
    package static func broken(by bytes: [UInt8]) -> [String] {
        let document: CategoryDocument
        do throws(RegistryDocumentError) { document = try CategoryDocument(bytes) } catch {
            return faults(of: error)
        }
        return faults(of: document.warnings, "warning") + faults(of: document) + document.categories.flatMap(faults)
    }

    private static func faults(of error: RegistryDocumentError) -> [String] {
        let description = error.description
        let isShown = description.split(separator: "\n").allSatisfy { String(printable: String($0)) == $0 }
        var broken = isShown ? [] : ["an error tells what a terminal may not see"]
        if case .invalid(let errors, let more) = error {
            if errors.isEmpty || errors.count > RegistryLimits.errors || more < 0 {
                broken.append("errors are none, or too many to tell")
            }
            broken += faults(of: errors, "error")
        }
        return broken
    }

    private static func faults(of remarks: [Remark], _ what: String) -> [String] {
        remarks.contains { $0.path.utf8.count > 2000 || $0.detail.utf8.count > 1000 || $0.detail.isEmpty }
            ? ["the words of \(what)s are endless, or there are none"] : []
    }

    /// What is kept is what was told: it is fit for jsonb, and the same when it is told again.
    private static func faults(of document: CategoryDocument) -> [String] {
        var broken: [String] = []
        if document.categories.count > RegistryLimits.categories || hasTwice(document.categories.map(\.id)) {
            broken.append("categories are too many, or one is there twice")
        }
        let kept = Array(document.categories.text.utf8)
        let isFit = JSONParser(maximumBytes: 1 << 26).withDocument(kept.span) { root in
            root.isArray && !root.holdsNUL && root.count == document.categories.count
        }
        if (try? isFit.get()) != true { broken.append("what is kept is not fit for jsonb") }
        let told = Array("{\"categories\":[\(document.categories.map(\.told).joined(separator: ","))]}".utf8)
        if told.count <= RegistryLimits.document {
            let again = try? CategoryDocument(told)
            if again?.set != .own || again?.categories.text != document.categories.text {
                broken.append("the same categories are others when they are told again")
            }
        }
        return broken
    }

    private static func faults(of category: Category) -> [String] {
        var broken: [String] = []
        let names = [category.id] + category.buttons.map(\.id) + category.compactActions + category.intentIdentifiers
        if !names.allSatisfy({ (1...256).contains($0.utf8.count) && String(printable: $0) == $0 }) {
            broken.append("a name cannot be held or shown")
        }
        if category.buttons.count > 10 || hasTwice(category.buttons.map(\.id)) || hasTwice(category.compactActions)
            || hasTwice(category.intentIdentifiers)
        {
            broken.append("buttons or names of a category are too many, or one is there twice")
        }
        for button in category.buttons where button.titles.isEmpty || hasTwice(button.titles.map(\.language)) {
            broken.append("a button has no title, or two in one language")
        }
        let texts = [category.summaryFormat, category.hiddenPreviewsPlaceholder].compactMap(\.self)
        if !(texts + category.buttons.flatMap { $0.titles.map(\.text) }).allSatisfy({ isHeld($0) }) {
            broken.append("a text cannot be held")
        }
        return broken
    }

    private static func isHeld(_ text: String) -> Bool {
        (1...512).contains(text.utf8.count) && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
    }

    /// Byte by byte, as SQL compares them.
    private static func hasTwice(_ names: [String]) -> Bool { Set(names.map { Array($0.utf8) }).count != names.count }
}

// A document of our own shape, written plainly.
extension Category {
    fileprivate var told: String {
        object([
            ("id", String(json: id)), ("actions", "[\(buttons.map(\.told).joined(separator: ","))]"),
            ("compact_actions", list(compactActions)), ("intent_identifiers", list(intentIdentifiers)),
            ("custom_dismiss", "\(customDismiss)"), ("content_extension", "\(contentExtension)"),
            ("category_summary_format", summaryFormat.map { String(json: $0) }),
            ("hidden_previews_body_placeholder", hiddenPreviewsPlaceholder.map { String(json: $0) }),
        ])
    }

    private func list(_ names: [String]) -> String { "[\(names.map { String(json: $0) }.joined(separator: ","))]" }
}

extension Button {
    fileprivate var told: String {
        object([
            ("id", String(json: id)), ("titles", object(titles.map { ($0.language, String(json: $0.text)) })),
            ("activation", activation.map { String(json: $0.rawValue) }), ("destructive", destructive.map { "\($0)" }),
            ("authentication_required", authenticationRequired.map { "\($0)" }),
            ("text_input", textInput.map { "\($0)" }), ("answer", answer.map { String(json: $0.rawValue) }),
        ])
    }
}

/// Members that are nil are left out.
private func object(_ members: [(name: String, value: String?)]) -> String {
    let told = members.compactMap { name, value in value.map { "\(String(json: name)):\($0)" } }
    return "{\(told.joined(separator: ","))}"
}
