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
            headline, settling, restated, categories, deadActions, campaigns, stories, threads, versions, suppressed,
            silent, media, reach, hours, quality,
        ].compactMap { $0(report) }
    }

    private static func nothing(_ report: Report) -> Section {
        var blocks: [Block] = [
            .sentence("No event of \(report.app) is on file for \(Wording.short(report.day)).", .plain)
        ]
        if let restated = restated(report) { blocks += restated.blocks }
        return Section("Nothing to tell", blocks)
    }
}
