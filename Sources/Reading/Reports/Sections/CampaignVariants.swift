/// One variant of a campaign on the day.
struct CampaignVariant: Hashable, Sendable {
    /// '' for deliveries without a variant.
    var name: String
    var counts: FunnelCounts

    static let none = "(no variant)"
}

extension CampaignSummary {
    /// The variants compared by the rate that the report leads with.
    func tests(in report: Report) -> [VariantTest] {
        var tests = VariantTest.compare(
            variants.map { ($0.name, report.leadsWithEngagement ? $0.counts.engagementRate : $0.counts.responseRate) },
            isSettled: report.settling.isSettled)
        for (place, verdict) in zip(tests.indices, variantVerdicts) { tests[place].verdict = verdict }
        return tests
    }

    /// What people read of the variants: each with its rates and their intervals, then the best one against the others.
    func variantBlocks(_ name: String, in report: Report) -> [Block] {
        guard variants.count > 1 else { return [] }
        let leads = report.leadsWithEngagement
        let table = Table("\(name): variants", of: variants) { variant in
            let counts = variant.counts
            func rate(_ title: String, _ rate: Rate) -> [Table.Field] {
                [.bar(title, rate), .interval(rate)]
            }
            return [
                .name("Variant", variant.name, else: CampaignVariant.none), .count("Delivered", counts.delivered),
                .count("Received", counts.received),
            ] + (leads ? rate("Engagement rate", counts.engagementRate) : [])
                + rate("Response rate", counts.responseRate)
        }
        let tests = tests(in: report)
        let rest = RestOfList.words(otherVariants, "variant", "variants")
        guard let best = tests.first?.variant else { return [.table(table)] + rest }
        let compared = tests.filter { ExactName($0.variant) == ExactName(best) }.prefix(Table.mostRows)
        let words = compared.map { test in
            var tone = Tone.plain
            if case .higher = test.verdict { tone = .good }
            let (better, base) = (
                Wording.name(test.variant, else: CampaignVariant.none),
                Wording.name(test.base, else: CampaignVariant.none)
            )
            let difference = Wording.difference(from: test.baseRate, to: test.rate)
            let words = difference == "no difference" ? "does not differ from" : "is \(difference) than"
            return Block.sentence(
                "\(name): the \(leads ? "engagement" : "response") rate of \(better) \(words) that of \(base) "
                    + "(95 % interval: \(Wording.interval(points: test.interval))). \(test.verdict.sentence)", tone)
        }
        let correction =
            tests.count > 1
            ? [
                Block.sentence(
                    "\(name): each of \(min(variants.count, VariantTest.mostVariants)) variants is compared with each. "
                        + "Probabilities and intervals are corrected for \(tests.count) comparisons.", .note)
            ] : []
        return [.table(table)] + rest + words + correction
    }

    /// What programs read of them.
    func variantLists(in report: Report) -> [EntryList] {
        [
            .list("variants", variants) { variant in
                Entry(keys: [.text("variant", variant.name)], facts: variant.counts.facts)
            },
            .list("variant_tests", tests(in: report)) { test in
                Entry(
                    keys: [.text("variant", test.variant), .text("base", test.base)],
                    facts: [
                        .text("rate", report.leadsWithEngagement ? "engagement_rate" : "response_rate"),
                        .number("difference", test.difference), .number("difference_low", test.interval.lowerBound),
                        .number("difference_high", test.interval.upperBound),
                    ] + test.verdict.facts)
            },
        ] + RestOfList.facts("other_variants", otherVariants)
    }
}
