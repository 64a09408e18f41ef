internal import Console
internal import Posting
internal import Projections
internal import Reports
internal import ServiceRuntime

/// The final output of a demonstration: the summaries on standard output, all else as messages.
struct DemoTelling {
    let directory: String
    let seconds: Double

    func tell(_ sent: DemoRun.Sent, _ proof: VerificationReport, _ made: [DemoRun.Made]) {
        let texts = made.map { StandardStream.output.takesColour ? $0.report.colouredText : $0.report.documents.text }
        StandardStream.output.write(ReportFormat.text.joined(texts))
        StandardStream.error.write("\n" + account(of: sent) + account(of: proof) + places(made))
    }

    private func account(of sent: DemoRun.Sent) -> String {
        let tally = sent.tally
        let answers =
            "\(tally.accepted) accepted, \(tally.duplicate) already known, \(tally.rejected) rejected"
        var text = """
            Two simulated apps sent \(tally.sent) events in \(tally.envelopes) requests over HTTP: \(answers).
            Their servers registered categories and an experiment, and reported \(sent.sends) sends. Firebase's export had \(sent.exported) rows.
            The service's clock ran through two weeks, so that late events came late, as in real life.
            All of it took \(Int(saturating: seconds.rounded(.up))) seconds.

            """
        if !sent.isWhole {
            text += """
                The answers do not match: \(sent.repeated) events were repeats and \(sent.faults) were invalid; \
                the database has \(sent.stored.accepted) accepted, \(sent.stored.duplicate) known already and \
                \(sent.stored.rejected) rejected\(tally.unsent > 0 ? "; \(tally.unsent) did not arrive" : "").
                Please report this.

                """
        }
        return text
    }

    /// One line if all is well.
    private func account(of proof: VerificationReport) -> String { proof.description + "\n" }

    private func places(_ made: [DemoRun.Made]) -> String {
        let path = String(printable: directory)
        let pages = made.map { "  \(String(printable: $0.html))\n" }.joined()
        guard let first = made.first else { return "" }
        return """
            The same reports as web pages:
            \(pages)
            To look around:
              bellwether look --data \(path)
              bellwether psql --data \(path)
              bellwether report --data \(path) --app \(first.app) --date \(first.report.report.day)
              bellwether serve --data \(path)
              rm -r \(path)    when you have seen enough

            """
    }
}
