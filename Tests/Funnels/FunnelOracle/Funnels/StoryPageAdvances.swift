import Telemetry

/// How the pages of stories were left for the next one, a row for each page that was.
///
/// The contract asks to tell by the page's declared duration whether it turned by itself (±0.4 s). Decided where it is
/// silent:
/// - *An advance* is a page_shown that dwells until a page_shown of a further page; or of any other page when that
///   one's own `cause` is auto, next or loop. One whose cause is prev or initial is none, wherever it leads. The same
///   page shown again is none.
/// - *The next page's own word goes first*: auto and loop are by itself, next is a tap.
/// - *Else the duration*, where the page's own event has `declared_ms`: by itself when it stood for that long, 0.4 s
///   more or less with both ends, else a tap.
/// - *Else nobody knows* from events: those are `StoryPageGaps`.
package struct StoryPageAdvances: FunnelRow {
    package let key: StoryPageFunnel.Key
    package let auto: Int
    package let manual: Int

    package static let view = "story_page_advances"
    package static let table = "story_page_funnel"

    package static var source: String {
        ProjectionSource(
            table: table, words: ["category", "campaign", "variant"], numbers: ["page_index"],
            sums: ["auto_advances", "manual_advances"]
        ).sql(as: view)
    }

    package static var keyColumns: [Column<StoryPageAdvances>] {
        StoryPageFunnel.keyColumns(within: \StoryPageAdvances.key)
    }

    package static var numberColumns: [Column<StoryPageAdvances>] {
        [Column("auto_advances", \.auto), Column("manual_advances", \.manual)]
    }

    package static func rows(of deliveries: [Delivery]) -> [StoryPageAdvances] {
        let stories = Dictionary(grouping: deliveries.compactMap(PlayedStory.init), by: \.key)
        return StoryPageFunnel.rows(of: deliveries).map { row in
            let advances = (stories[row.key.story] ?? []).flatMap { $0.advances(of: row.key.pageIndex) }
            return StoryPageAdvances(
                key: row.key, auto: advances.count { $0 == .auto }, manual: advances.count { $0 == .manual })
        }
        .filter { $0.auto + $0.manual > 0 }
    }
}

/// Advances of which the events do not tell how they came about, by how long the page stood. Rows stand where there are
/// any.
///
/// Decided: `gap` is twice the tenths of a second where those are whole to the microsecond, and else twice the tenths
/// that are full, plus one. So what lies within 0.4 s of so many declared tenths can be told exactly.
package struct StoryPageGaps: FunnelRow {
    package let key: StoryPageFunnel.Key
    package let gap: Int
    package let advances: Int

    package static let view = "story_page_gaps"

    package static var source: String {
        ProjectionSource(
            table: view, projector: "story_page_funnel", words: ["category", "campaign", "variant"],
            numbers: ["page_index", "gap"], sums: ["advances"]
        ).sql(as: view)
    }

    package static var keyColumns: [Column<StoryPageGaps>] {
        StoryPageFunnel.keyColumns(within: \StoryPageGaps.key) + [Column("gap", \.gap)]
    }

    package static var numberColumns: [Column<StoryPageGaps>] { [Column("advances", \.advances)] }

    package static func rows(of deliveries: [Delivery]) -> [StoryPageGaps] {
        let stories = Dictionary(grouping: deliveries.compactMap(PlayedStory.init), by: \.key)
        return StoryPageFunnel.rows(of: deliveries).flatMap { row -> [StoryPageGaps] in
            let gaps = (stories[row.key.story] ?? []).flatMap { $0.advances(of: row.key.pageIndex) }
                .compactMap { advance in if case .untold(let gap) = advance { gap } else { nil } }
            return Dictionary(grouping: gaps) { $0 }
                .map { StoryPageGaps(key: row.key, gap: $0, advances: $1.count) }
        }
        .sortedByKey()
    }
}

/// How a page was left for another one.
private enum Advance: Hashable {
    case auto
    case manual
    case untold(gap: Int)
}

extension PlayedStory {
    fileprivate func advances(of page: Int) -> [Advance] {
        turns(of: page).compactMap { turn in
            guard let shown = turn.shown.pageShown, let next = turn.end.pageShown else { return nil }
            let isFurther = next.pageIndex > shown.pageIndex
            let isAnother = next.pageIndex != shown.pageIndex
            switch next.cause {
            case .previous, .initial: return nil
            case .auto, .loop: return isAnother ? .auto : nil
            case .next: return isAnother ? .manual : nil
            case nil where !isFurther: return nil
            case nil: break
            }
            guard let declared = shown.declaredMS else {
                let isWhole = turn.dwell % 100_000 == 0
                return .untold(gap: Int(turn.dwell / 100_000) * 2 + (isWhole ? 0 : 1))
            }
            // A page dwells for a minute at most.
            guard declared <= 61_000 else { return .manual }
            return (declared * 1_000 - 400_000...declared * 1_000 + 400_000).contains(turn.dwell) ? .auto : .manual
        }
    }
}
