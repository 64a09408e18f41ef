internal import ServiceRuntime
internal import Values

/// What is sent of a report to people and programs that do not open it.
package struct ReportMessage: Sendable {
    package var app: String
    package var period: Period
    package var news: [News]
    /// In one line: the app, the day and the verdict.
    package var subject: String
    /// For a chat: the subject, the main figures, the news, what else to do. At most `mostInSummary` characters.
    package var summary: String
    /// The whole report as text.
    package var text: String
    /// The report as HTML for mail.
    package var mail: String
    /// For programs: a JSON object with the news and the report.
    package var json: String

    private static let mostInSummary = 2800
    private static let mostInSubject = 160
}

extension Reporter.Made {
    /// What is sent of it.
    package var message: ReportMessage { ReportMessage(report, documents) }
}

extension ReportMessage {
    init(_ report: Report, _ documents: ReportDocuments) {
        (app, period, news) = (report.app, report.period, report.news)
        subject = Self.subject(report, news)
        summary = Self.summary(report, subject, news)
        text = documents.text
        mail = MailDocument(Page(report)).text
        let told = news.map { item -> JSONObject in ["kind": item.kind.rawValue, "words": item.words] }
        let head: JSONObject = [
            "app": report.app, "period": report.period.name, "day": report.day.description, "subject": subject,
            "news": told,
        ]
        // The report is one object in one line.
        let whole = documents[.json].filter { $0 != "\n" }
        json = head.json.dropLast() + ",\"report\":\(whole.isEmpty ? "null" : whole)}"
    }

    /// `shop, Friday 20 November: 2 alarms, response rate fell`
    private static func subject(_ report: Report, _ news: [News]) -> String {
        let when =
            switch report.period {
            case .day(let day): Wording.short(day)
            case .week(let week): "week \(week.number)"
            }
        return "\(report.app), \(when): \(verdict(report, news))".clipped(to: mostInSubject)
    }

    private static func verdict(_ report: Report, _ news: [News]) -> String {
        if report.isEmpty { return "no event is on record" }
        let alarms = Int64(news.count { $0.kind == .alarm })
        var parts = alarms > 0 ? [Wording.count(alarms, "alarm", "alarms")] : []
        let (rose, fell) = MoversSection.moved(report)
        for (verb, movers, isWhole) in [
            ("fell", fell, report.headline.usual?.leading.verdict.isLower == true),
            ("rose", rose, report.headline.usual?.leading.verdict.isHigher == true),
        ] {
            if isWhole {
                parts.append("\(report.leadingRate) \(verb)")
            } else if let first = movers.first {
                let more = movers.count > 1 ? " and \(movers.count - 1) more" : ""
                parts.append("\(Wording.name(first.category, else: CategoriesSection.none))\(more) \(verb)")
            }
        }
        return parts.isEmpty ? "nothing unusual" : parts.joined(separator: ", ")
    }

    private static func summary(_ report: Report, _ subject: String, _ news: [News]) -> String {
        let counts = report.headline.counts
        var lines = [subject]
        if counts.delivered > 0 {
            let engagement = report.leadsWithEngagement ? "engagement \(Wording.percent(counts.engagementRate)), " : ""
            lines.append(
                "\(Wording.count(counts.delivered, "delivery", "deliveries")), \(engagement)response "
                    + "\(Wording.percent(counts.responseRate)), receipt coverage "
                    + "\(Wording.percent(counts.receiptCoverage))"
            )
        }
        lines += news.map { "\($0.kind.mark) \($0.words)." }
        // The news has said the others.
        let deeds = ToDoSection.deeds(in: report).filter { deed in
            deed.urgency != .broken && ![HeadlineSection.title(report), MoversSection.title].contains(deed.section)
        }
        lines += deeds.map { "To do: \($0.what)." }
        // A name from outside must not begin a line of its own, or turn the direction of one.
        return lines.map { String(printable: $0) }.joined(separator: "\n").clipped(to: mostInSummary)
    }
}

extension News.Kind {
    fileprivate var mark: String {
        switch self {
        case .alarm: "Alarm:"
        case .fell: "▼"
        case .rose: "▲"
        }
    }
}

extension String {
    /// So many characters at most, the last of which says that there were more.
    fileprivate func clipped(to most: Int) -> String {
        guard unicodeScalars.count > most else { return self }
        return String(String.UnicodeScalarView(unicodeScalars.prefix(most - 1))) + "…"
    }
}
