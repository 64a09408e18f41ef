internal import Telemetry

extension Page {
    /// A report as people read it, in the order of what they ask first.
    package init(_ report: Report) {
        self.init(
            title: "\(report.app) · \(Wording.long(report.day))",
            subtitle: "Push notifications on this day in \(report.timeZone). "
                + "Made \(report.madeAt.description.prefix(16).replacing("T", with: " ")) UTC "
                + "from the log up to position \(report.position).",
            sections: report.isEmpty ? [Page.nothing(report)] : Page.sections(of: report))
    }

    private static func sections(of report: Report) -> [Section] {
        [
            headline, sealing, settling, restated, categories, deadActions, campaigns, stories, threads, stackDepths,
            versions, suppressed, silent, media, reach, hours, quality,
        ].compactMap { $0(report) }
    }

    /// That a part of it is not known any more, before anybody looks for it.
    private static func sealing(_ report: Report) -> Section? {
        guard report.isSealed else { return nil }
        return Section(
            "Sealed",
            [
                .sentence(
                    "Old events of this day were dropped by retention: its sums stay; "
                        + "\(report.campaigns.isEmpty ? "campaigns, " : "")installs, hours, piles and launches are not "
                        + "known any more.", .plain)
            ])
    }

    private static func nothing(_ report: Report) -> Section {
        var blocks: [Block] = [
            .sentence("No event of \(report.app) is on file for \(Wording.short(report.day)).", .plain)
        ]
        if let restated = restated(report) { blocks += restated.blocks }
        return Section("Nothing to tell", blocks)
    }
}
