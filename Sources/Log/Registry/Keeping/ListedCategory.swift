package import Accounts
package import Postgres
internal import ServiceRuntime

/// A category as `categories list` shows it: registered, retired, or only tapped.
package struct ListedCategory: Sendable {
    package struct Button: Sendable {
        package let id: String
        package let position: Int16?
        package let title: String?
        package let answer: String?
        package let exposures: Int64?
        package let tappedDeliveries: Int64
        package let verdict: String
    }

    package let id: String
    /// Empty if it was never registered.
    package let set: String
    package let edition: Int32?
    package let isRetired: Bool
    package private(set) var buttons: [Button] = []

    /// All categories of an app by name, with their buttons in order.
    package static func list(
        of app: App, on connection: inout Connection
    ) throws(PostgresError) -> [ListedCategory] {
        let rows = try connection.query(
            """
            SELECT
                category, c.category_set, c.edition, c.retired_at IS NOT NULL, b.action_id, b.position, b.title,
                b.answer, b.exposures, b.tapped_deliveries, b.verdict
            FROM (SELECT * FROM analytics.categories WHERE app = \(app.slug)) AS c
            FULL JOIN (SELECT * FROM analytics.category_buttons WHERE app = \(app.slug)) AS b USING (category)
            ORDER BY category COLLATE "C", b.verdict IN ('retired', 'unregistered'), b.position, b.action_id COLLATE "C"
            """)
        var categories: [ListedCategory] = []
        for row in rows {
            let id: String = try row.get(0)
            if categories.last.map({ ExactText($0.id) }) != ExactText(id) {
                categories.append(
                    ListedCategory(
                        id: id, set: try row.optional(1) ?? "", edition: try row.optional(2), isRetired: try row.get(3))
                )
            }
            guard let action: String = try row.optional(4) else { continue }
            categories[categories.count - 1].buttons.append(
                Button(
                    id: action, position: try row.optional(5), title: try row.optional(6), answer: try row.optional(7),
                    exposures: try row.optional(8), tappedDeliveries: try row.get(9), verdict: try row.get(10)))
        }
        return categories
    }

    private init(id: String, set: String, edition: Int32?, isRetired: Bool) {
        (self.id, self.set, self.edition, self.isRetired) = (id, set, edition, isRetired)
    }

    /// In one line.
    package var json: String {
        let listed = buttons.map { button -> JSONObject in
            [
                "action_id": button.id, "position": button.position, "title": button.title, "answer": button.answer,
                "exposures": button.exposures, "tapped_deliveries": button.tappedDeliveries, "verdict": button.verdict,
            ]
        }
        let object: JSONObject = [
            "category": id, "category_set": set.isEmpty ? nil : set, "edition": edition, "retired": isRetired,
            "buttons": listed,
        ]
        return object.json
    }
}

extension [Category] {
    /// The same text for the same categories, however their document was written. Imports are compared and stored by
    /// this text.
    package var text: String { map(\.object).json }
}

extension Category {
    fileprivate var object: JSONObject {
        [
            "id": id, "custom_dismiss": customDismiss, "content_extension": contentExtension,
            "compact_actions": compactActions, "intent_identifiers": intentIdentifiers,
            "category_summary_format": summaryFormat, "hidden_previews_body_placeholder": hiddenPreviewsPlaceholder,
            "actions": buttons.map(\.object),
        ]
    }
}

extension Button {
    fileprivate var object: JSONObject {
        [
            "id": id, "titles": JSONObject(titles.map { ($0.language, $0.text) }), "title": title,
            "activation": activation?.rawValue, "destructive": destructive,
            "authentication_required": authenticationRequired, "text_input": textInput, "answer": answer?.rawValue,
        ]
    }
}

extension Registration {
    /// What the person who imported something is shown.
    package var json: String {
        let object: JSONObject = [
            "edition": edition, "categories": categories, "buttons": buttons, "unchanged": isUnchanged,
            "warnings": warnings,
        ]
        return object.json
    }
}

extension Remark: JSONWritable {
    package func appendJSON(to text: inout String) {
        JSONObject(dictionaryLiteral: ("path", path), ("detail", detail)).appendJSON(to: &text)
    }
}
