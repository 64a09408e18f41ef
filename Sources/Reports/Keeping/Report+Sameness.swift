internal import Telemetry

extension Report {
    /// Whether the day was over when it was made.
    var isFinal: Bool { settling.hoursSinceEnd >= 0 }

    /// What it says that the log and what was registered and told of sends decide: two with the same are one report, made
    /// at different hours or after different ones. One that is made after its buttons have got their titles is another.
    var timelessDocument: String {
        var report = self
        report.madeAt = Timestamp(microseconds: 0)
        report.settling = Settling(hoursSinceEnd: 0, share: nil, events: 0, hoursTo95: nil, hoursTo99: nil)
        report.restated = []
        // Which days it is held against, and what is concluded, goes by its age and by what was reported before.
        report.headline = Headline(counts: headline.counts)
        return JSONDocument(report).text
    }
}
