extension Page {
    static func stackDepths(_ report: Report) -> Section? {
        guard report.stackDepths.contains(where: { $0.bucket != StackDepth.lone }) else { return nil }
        // Without groups the app's pile is the only one.
        let areGrouped = report.threads.contains { !$0.name.isEmpty }
        let shown = report.stackDepths.filter { areGrouped || $0.scope == .app }
        let table = Table(
            "By the pile of unanswered ones that a notification came onto",
            columns: [
                .name("Pile"), .number("Delivered"), .number("Received"), .number("Responded"), .bar("Response rate"),
            ],
            rows: shown.map { depth in
                let counts = depth.counts
                return [
                    Table.Cell(depth.words), Table.Cell(Wording.count(counts.delivered)),
                    Table.Cell(Wording.count(counts.received)), Table.Cell(Wording.count(counts.receivedResponded)),
                    Table.Cell(Wording.percent(counts.responseRate), share: counts.responseRate.value),
                ]
            })
        return Section("Piles", [.table(table)] + comparison(of: report.stackDepths))
    }

    /// Of the app's piles the deep beside the lone: from five on iOS stacks.
    private static func comparison(of depths: [StackDepth]) -> [Block] {
        func rate(_ bucket: String) -> Rate? {
            depths.first { $0.scope == .app && $0.bucket == bucket }?.counts.responseRate
        }
        var blocks: [Block] = []
        if let deep = rate(StackDepth.deep), let lone = rate(StackDepth.lone), let now = deep.value,
            let base = lone.value
        {
            let verdict = TwoProportions.verdict(deep, against: lone)
            var words =
                "Onto a pile of five or more in the app, \(Wording.percent(now)) responded; alone, "
                + "\(Wording.percent(base)): \(Wording.points(from: base, to: now)), \(verdict.words)."
            if case .lower = verdict {
                words += " Who answers little has deep piles, which alone can make such a difference."
            }
            blocks.append(.sentence(words, .plain))
        }
        blocks.append(
            .sentence(
                "With the notification itself, of the 24 hours before it. Clearing is never reported, so piles are no "
                    + "deeper than this; iOS stacks by group or by app, as the person chose.", .note))
        return blocks
    }
}

extension StackDepth {
    fileprivate var words: String {
        let place = scope == .thread ? "in its group" : "in the app"
        return switch bucket {
        case StackDepth.lone: "Alone \(place)"
        case StackDepth.deep: "5 and more \(place)"
        default: "\(bucket.replacing("-", with: " to ")) \(place)"
        }
    }
}
