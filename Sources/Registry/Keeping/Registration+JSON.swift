internal import ServiceRuntime

extension Registration {
    /// What who has imported something is told.
    package var json: String {
        "{\"edition\":\(edition),\"categories\":\(categories),\"buttons\":\(buttons),\"unchanged\":\(isUnchanged),"
            + "\"warnings\":\(warnings.json)}"
    }
}

extension [Remark] {
    /// As JSON, for programs.
    package var json: String {
        "["
            + map { "{\"path\":\(String(json: $0.path)),\"detail\":\(String(json: $0.detail))}" }.joined(separator: ",")
            + "]"
    }
}
