internal import ServiceRuntime

extension Registration {
    /// What who has imported something is told.
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
