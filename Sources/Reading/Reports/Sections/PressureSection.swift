internal import Postgres

/// What one more notification does to the people who get it. Of a week: a day has too few.
enum PressureSection: ReportSection {
    static let title = "One more notification"

    static func read(into report: inout Report, _ scope: ReportScope, on connection: inout Connection)
        throws(PostgresError)
    {
        report.pressure = try Pressure.read(scope, on: &connection)
    }

    static func words(_ report: Report) -> Page.Section? {
        let pressure = report.pressure
        // If nobody got two within a day, there is nothing to tell.
        guard pressure.steps.contains(where: { $0.number > 1 }) else { return nil }
        let table = Table("By how many an install received in the 24 hours up to and with each one", of: pressure.steps)
        { step in
            [
                .text("In 24 hours", step.number < 10 ? "\(step.number)" : "10 or more"),
                .count("Received", step.received),
                .bar("Response rate", step.response), .number("Against usual", against(step.ratio)),
                .count("Turned off", step.turnedOff),
            ]
        }
        return Page.Section(
            title,
            meaning(pressure) + [
                .table(table),
                .sentence(
                    "Against usual: how much more or less the same installs answered than they answered their other "
                        + "notifications of seven days, among those of the same day and category. Turned off: installs "
                        + "that turned notifications off within 24 hours, before the next one.", .note),
            ])
    }

    private static func against(_ ratio: Double?) -> String {
        guard let ratio else { return "–" }
        return signed(ratio - 1)
    }

    /// `+4.1 %`, `−3.0 %`
    private static func signed(_ change: Double) -> String {
        let percent = Wording.fixed(abs(change) * 100, 1)
        return percent == "0.0" ? "±0 %" : "\(change < 0 ? "−" : "+")\(percent) %"
    }

    private static func meaning(_ pressure: Pressure) -> [Block] {
        guard let effect = pressure.effect else {
            return [.sentence("Nobody can tell yet what one more notification does: too few were answered.", .plain)]
        }
        let range = "\(signed(effect.interval.lowerBound)) to \(signed(effect.interval.upperBound))"
        let words =
            switch effect.sign {
            case -1:
                "Each further notification within 24 hours costs answers: the same people answer "
                    + "\(Wording.percent(-effect.change)) less with each one (95 % interval: \(range))."
            case 1:
                "Nobody gets tired yet: with each further notification within 24 hours the same people answer "
                    + "\(Wording.percent(effect.change)) more (95 % interval: \(range))."
            default:
                "Nobody can tell whether one more notification costs answers: with each one within 24 hours, the "
                    + "answers of the same people change by \(range)."
            }
        return [.sentence(words, .plain)]
            + [selection(pressure, effect), occasion(pressure, effect)].compactMap(\.self)
    }

    /// Eager people get more, so the plain rate rises with the number.
    private static func selection(_ pressure: Pressure, _ effect: Pressure.Effect) -> Block? {
        guard pressure.looksBetter, effect.sign < 1 else { return nil }
        return .sentence(
            "The response rate is higher where more came, but not because of it: more is sent to people who answer "
                + "much, or when there is much to answer.", .plain)
    }

    /// Where days and categories with many are the ones that people like, the same people seem to like many.
    private static func occasion(_ pressure: Pressure, _ effect: Pressure.Effect) -> Block? {
        guard let over = pressure.effectOverAll, over.sign == 1, effect.sign < 1 else { return nil }
        return .sentence(
            "Over all days and categories together it would seem that the same people answer "
                + "\(Wording.percent(over.change)) more with each one. That is the occasion: more is sent when there "
                + "is more to tell.", .plain)
    }

    static func facts(_ report: Report) -> [EntryList] {
        .list("pressure", report.pressure.steps) { step in
            Entry(
                keys: [.count("pressure", step.number)],
                facts: step.response.asResponse + [
                    .count("turned_off", step.turnedOff), .count("compared", step.compared.whole),
                    .count("compared_responded", step.compared.part), .number("expected_responded", step.expected),
                    .number("expected_alike", step.expectedAlike), .number("ratio", step.ratio),
                ])
        }
            + .single(
                "pressure_effect",
                Entry(
                    facts: change("change", report.pressure.effect)
                        + change("change_over_all", report.pressure.effectOverAll)))
    }

    private static func change(_ name: String, _ effect: Pressure.Effect?) -> [Fact] {
        [
            .number(name, effect?.change), .number("\(name)_low", effect?.interval.lowerBound),
            .number("\(name)_high", effect?.interval.upperBound),
        ]
    }
}
