internal import ServiceRuntime

extension [Category] {
    /// One text for the same categories, however their document was written. What it is compared by, and stored from.
    package var json: String { "[" + map(\.json).joined(separator: ",") + "]" }
}

extension Category {
    fileprivate var json: String {
        let summary = summaryFormat.map { String(json: $0) } ?? "null"
        let placeholder = hiddenPreviewsPlaceholder.map { String(json: $0) } ?? "null"
        return
            "{\"id\":\(String(json: id)),\"custom_dismiss\":\(customDismiss),\"content_extension\":\(contentExtension),"
            + "\"compact_actions\":[\(compactActions.map { String(json: $0) }.joined(separator: ","))],"
            + "\"intent_identifiers\":[\(intentIdentifiers.map { String(json: $0) }.joined(separator: ","))],"
            + "\"category_summary_format\":\(summary),\"hidden_previews_body_placeholder\":\(placeholder),"
            + "\"actions\":[\(buttons.map(\.json).joined(separator: ","))]}"
    }
}

extension Button {
    fileprivate var json: String {
        let titles = titles.map { "\(String(json: $0.language)):\(String(json: $0.text))" }.joined(separator: ",")
        return
            "{\"id\":\(String(json: id)),\"titles\":{\(titles)},\"title\":\(title.map { String(json: $0) } ?? "null"),"
            + "\"activation\":\(activation.map { "\"\($0.rawValue)\"" } ?? "null"),"
            + "\"destructive\":\(destructive.map { "\($0)" } ?? "null"),"
            + "\"authentication_required\":\(authenticationRequired.map { "\($0)" } ?? "null"),"
            + "\"text_input\":\(textInput.map { "\($0)" } ?? "null"),"
            + "\"answer\":\(answer.map { "\"\($0.rawValue)\"" } ?? "null")}"
    }
}
