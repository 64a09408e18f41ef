internal import ServiceRuntime

extension [Category] {
    /// One text for the same categories, however their document was written. What it is compared by, and stored from.
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
