package import Reports

/// Where reports go, as the file of `report --deliver` says.
package struct Place: Sendable {
    package var name: String
    package var kind: Kind
    /// The apps whose reports it gets; nil for all.
    package var apps: Set<String>?
    /// The news without which it gets no report; nil for every report.
    package var news: Set<News.Kind>?

    package enum Kind: Sendable {
        /// The addresses of people.
        case mail([String])
        /// The webhook of a channel.
        case slack(Secret), teams(Secret)
        /// Any URL, and the key that signs what it gets.
        case json(Secret, key: Secret)
    }

    /// Whether plain http is allowed to other machines.
    package var allowsHTTP = false

    /// What it gets of a report: nil for nothing, since the report is of another app.
    package func wants(_ message: ReportMessage) -> Bool? {
        guard apps?.contains(message.app) ?? true else { return nil }
        return news.map { news in message.news.contains { news.contains($0.kind) } } ?? true
    }
}

/// All places of a file.
package struct Places: Sendable {
    /// The sender of mail.
    package var from: String?
    /// The program that takes mail.
    package var sendmail = "/usr/sbin/sendmail"
    package var all: [Place] = []
}
