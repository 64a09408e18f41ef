internal import ServiceRuntime

/// Something that a report tells as news: what is broken, and what fell or rose by more than chance after all
/// comparisons of the report were judged together.
package struct News: Hashable, Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        case alarm, fell, rose
    }

    package var kind: Kind
    /// A sentence without a full stop.
    package var words: String
}

extension Report {
    /// Alarms first, then what fell, then what rose.
    ///
    /// It repeats verdicts that the report has and makes none. A difference from the day before alone is no news, since
    /// weekdays differ; a button that nobody taps is none either, since no comparison of rates says so.
    package var news: [News] {
        let deeds = sections.flatMap { $0.deeds(self) } + carried
        let alarms = deeds.filter { $0.urgency == .broken }.map { News(kind: .alarm, words: $0.what) }
        let (rose, fell) = MoversSection.moved(self)
        return Array(alarms.prefix(Self.mostNews)) + told(.fell, fell) + told(.rose, rose)
    }

    private static let mostNews = 5

    /// The day or week itself, then its categories.
    private func told(_ kind: News.Kind, _ movers: [Mover]) -> [News] {
        var news: [News] = []
        let base = headline.usual
        if let base, let was = base.leading.rate, base.leading.verdict.isLower == (kind == .fell),
            base.leading.verdict.isLower || base.leading.verdict.isHigher
        {
            let now = leadsWithEngagement ? headline.counts.engagementRate : headline.counts.responseRate
            news.append(
                News(
                    kind: kind,
                    words: "The \(leadingRate) \(kind.rawValue): \(Wording.percent(was)) → \(Wording.percent(now)), "
                        + "against \(base.name)"))
        }
        news += movers.prefix(Self.mostNews).map { mover in
            News(
                kind: kind,
                words: "The \(leadingRate) of \(Wording.name(mover.category, else: CategoriesSection.none)) "
                    + "\(kind.rawValue): \(Wording.percent(mover.usual)) → \(Wording.percent(mover.rate)), "
                    + "against \(base?.name ?? "the same weekday")")
        }
        let more = movers.count - Self.mostNews
        if more > 0 { news.append(News(kind: kind, words: "\(Wording.count(Int64(more))) more \(kind.rawValue)")) }
        return news
    }
}
