internal import Values

extension Funnels {
    /// The laws of the contract's section 4 that these funnels break, a line for each; empty when all hold.
    package var brokenLaws: [String] {
        var lines: [String] = []
        for row in categories {
            let behind = deliveries(of: row.key.app, on: row.key.day).filter { $0.category == row.key.category }
            lines += brokenLaws(of: row.counts, at: "\(row.key)", behind: behind)
        }
        for row in threads {
            let behind = deliveries(of: row.key.app, on: row.key.day).filter { $0.thread == row.key.thread }
            lines += brokenLaws(of: row.counts, at: "\(row.key)", behind: behind)
        }
        for row in versions {
            let behind = deliveries(of: row.key.app, on: row.key.day)
                .filter { $0.platform == row.key.platform && $0.appVersion == row.key.appVersion }
            lines += brokenLaws(of: row.counts, at: "\(row.key)", behind: behind)
        }
        for row in campaigns {
            let behind = deliveries(of: row.key.app, on: row.key.day)
                .filter { $0.campaign == row.key.campaign && $0.variant == row.key.variant }
            lines += brokenLaws(of: row.counts, at: "\(row.key)", behind: behind)
        }
        for row in exposures {
            let counts = categories.first { $0.key == row.key }?.counts
            let holds = counts.map {
                max($0.expanded, $0.actionTapped) <= row.exposed && row.exposed <= $0.expanded + $0.actionTapped
            }
            lines += broken(at: "\(row.key)", [("expanded, tapped ≤ exposed ≤ their sum", holds ?? false)])
        }
        for row in stories { lines += brokenLaws(of: row) }
        for row in pages { lines += brokenLaws(of: row) }
        return lines
    }

    /// The deliveries of a day that are not silent.
    private func deliveries(of app: Label, on day: CivilDate) -> [DeliveryFacts] {
        deliveries.filter { $0.name.app == app && $0.facts.day == day && !$0.facts.silent }.map(\.facts)
    }

    private func brokenLaws(
        of counts: DeliveryCounts, at place: String, behind facts: [DeliveryFacts]
    ) -> [String] {
        let onlyDismissed = facts.count { $0.dismissed && !$0.responded }
        return broken(
            at: place,
            [
                ("delivered = received + inferred", counts.delivered == counts.received + counts.inferred),
                ("0 ≤ inferred", counts.inferred >= 0),
                ("delivered = its deliveries", counts.delivered == facts.count),
                ("received_responded ≤ received", counts.receivedResponded <= counts.received),
                ("received_responded ≤ responded", counts.receivedResponded <= counts.responded),
                ("responded ≥ opened", counts.responded >= counts.opened),
                ("responded ≥ action_tapped", counts.responded >= counts.actionTapped),
                ("responded ≥ story_action_tapped", counts.responded >= counts.storyActionTapped),
                ("suppressed ≤ unanswered", counts.suppressed <= counts.unanswered),
                (
                    "responded + |dismissed and not responded| + unanswered = delivered",
                    counts.responded + onlyDismissed + counts.unanswered == counts.delivered
                ),
            ])
    }

    private func brokenLaws(of story: StoryFunnel) -> [String] {
        let rows = pages.filter { $0.key.story == story.key }
        let reached = deliveries(of: story.key.app, on: story.key.day).count {
            $0.category == story.key.category && $0.campaign == story.key.campaign && $0.story?.exit == .abandoned
                && $0.story?.furthest != nil
        }
        let exits = story.exitClicked + story.exitFinished + story.exitFallback + story.exitAbandoned
        return broken(
            at: "\(story.key)",
            [
                ("the four exits sum to stories", exits == story.stories),
                ("Σ exited = abandoned that reached a page", rows.reduce(0) { $0 + $1.exited } == reached),
                ("planned ≥ reached ≥ shown", rows.allSatisfy { $0.planned >= $0.reached && $0.reached >= $0.shown }),
                ("planned > 0", rows.allSatisfy { $0.planned > 0 }),
                ("pages without a gap", rows.map(\.key.pageIndex) == Array(0..<rows.count)),
                ("planned never rises", zip(rows, rows.dropFirst()).allSatisfy { $0.planned >= $1.planned }),
                ("reached never rises", zip(rows, rows.dropFirst()).allSatisfy { $0.reached >= $1.reached }),
            ])
    }

    private func brokenLaws(of page: StoryPageFunnel) -> [String] {
        let told = advances.filter { $0.key == page.key }.reduce(0) { $0 + $1.auto + $1.manual }
        let untold = gaps.filter { $0.key == page.key }.reduce(0) { $0 + $1.advances }
        return broken(
            at: "\(page.key)",
            [("advances ≤ dwells ≤ views", told + untold <= page.dwells && page.dwells <= page.views)])
    }

    private func broken(at place: String, _ laws: [(name: String, holds: Bool)]) -> [String] {
        laws.filter { !$0.holds }.map { "\($0.name): broken at \(place)" }
    }
}
