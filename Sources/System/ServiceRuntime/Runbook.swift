/// The headings of `Docs/Runbook.md` that this program names to whoever has the trouble that they are about. A test
/// compares them with the document.
package enum Runbook: String, CaseIterable, Sendable {
    case serviceAway = "The service does not answer"
    case databaseAway = "The database is away, or does not fit the program"
    case clockWrong = "A clock is wrong"
    case overloaded = "Requests get 503"
    case commitsSlow = "Commits are slow or fail"
    case diskFull = "A disk is full"
    case archiveFails = "The write-ahead log is not archived"
    case standbyAway = "A standby is away or behind"
    case cellAway = "A cell is away"
    case connectionsTaken = "The database's connections are taken"
    case rightMissing = "A login lacks a right"
    case funnelsBehind = "The funnels are behind"
    case projectionStopped = "A projection has stopped"
    case interrupted = "A command was interrupted, or does not end"
    case partitionMissing = "A month has no partition"
    case reportMissing = "A night made no report"
    case notProved = "Numbers differ, or were not proved"
    case notDelivered = "A report has not arrived"
    case keyRefused = "Clients get 401 or 403"
    case rateLimited = "An app gets 429"
    case pagesEnd = "The web pages end"
    case backupOld = "There is no recent backup"
    case settingsUnsafe = "The server's settings put data at risk"
    case readersFree = "Readers may do too much"
    case notLookedAt = "A check could not be made"

    /// Where to read, in the form of a link.
    package var place: String { "Docs/Runbook.md#\(Self.anchor(of: rawValue))" }

    /// The name of a heading in links.
    package static func anchor(of heading: String) -> String {
        String(
            heading.lowercased().compactMap { character in
                character == " " ? "-" : character.isLetter || character.isNumber || character == "-" ? character : nil
            })
    }
}
