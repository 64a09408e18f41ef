/// What an experiment means, in words that the report and the web pages share.
extension ExperimentSummary {
    private static func points(_ share: Double) -> String {
        let points = Wording.fixed(abs(share) * 100, 2)
        return "\(share < 0 && points != "0.00" ? "−" : "+")\(points)"
    }

    /// `+0.31 to +1.72 points`
    package static func interval(_ interval: ClosedRange<Double>?) -> String {
        interval.map { "\(points($0.lowerBound)) to \(points($0.upperBound)) points" } ?? "–"
    }

    /// `+1.02 points`
    package static func difference(_ difference: Double?) -> String {
        difference.map { "\(points($0)) points" } ?? "–"
    }

    package static func goal(_ name: String) -> String { Wording.name(name, else: "any goal") }

    private static func share(_ rate: Rate) -> String {
        "\(Wording.fixed((rate.value ?? 0) * 100, 2)) % of \(Wording.count(rate.whole))"
    }

    /// What is wrong with it, alarms first; then what it found, goal by goal.
    package var findings: [Block] {
        guard let arms else {
            return [
                .sentence(
                    "\(name) can no longer be counted: retention has dropped events from its time, or from the 28 days "
                        + "before it that decide who counts. The reports of those nights still say what it "
                        + "found.", .plain)
            ]
        }
        let alarms = isMisdrawn ? [misdrawn(arms)] : isLeaking ? [leaking(arms)] : []
        // Arms that are not what was drawn differ in more than the pushes.
        return alarms + (isMisdrawn ? [] : goals.flatMap { [found($0)] + ofResponse($0) }) + unseen
    }

    private func misdrawn(_ arms: Arms) -> Block {
        .sentence(
            "Do not believe \(name) for now: its arms are not what was drawn. \(Wording.count(arms.control)) of "
                + "\(Wording.count(arms.control + arms.treated)) installs are in the control arm, and "
                + "\(Wording.percent(controlShare)) should be (\(Wording.probability(sampleRatio ?? 0))). Either one "
                + "arm loses installs, as by erasures, or the events of one do not all arrive.", .alarm)
    }

    private func leaking(_ arms: Arms) -> Block {
        .sentence(
            "\(name) finds less than there is: \(Wording.percent(Rate(arms.exposedControl, of: arms.control))) of its "
                + "control arm (\(Wording.count(arms.exposedControl)) of \(Wording.count(arms.control)) installs) got "
                + "a push of its campaigns all the same. Let the sender apply the arm rule to each of them.", .alarm)
    }

    private func found(_ result: GoalResult) -> Block {
        let goal = Self.goal(result.name)
        let shares =
            "\(Self.share(result.treated)) treated installs reached it, and \(Self.share(result.control)) in the "
            + "control arm"
        guard let interval = result.interval else {
            return .sentence(
                "\(name) cannot say anything of \(goal) yet: too few installs have reached it "
                    + "(\(Wording.count(result.treated.part)) treated, \(Wording.count(result.control.part)) control).",
                .plain)
        }
        let range = "between \(Self.points(interval.lowerBound)) and \(Self.points(interval.upperBound)) points"
        switch result.sign {
        case 1:
            return .sentence(
                "The pushes of \(name) help: \(shares), so they raise \(goal) by something \(range).", .good)
        case -1:
            return .sentence(
                "The pushes of \(name) do harm: \(shares), so they lower \(goal) by something \(range).", .alarm)
        default:
            return .sentence(
                "Nobody can tell \(isOver ? "" : "yet ")whether the pushes of \(name) change \(goal): \(shares), and "
                    + "the true difference is \(range).", .plain)
        }
    }

    /// A goal that is reached by answering the push proves only that pushes are answered.
    private func ofResponse(_ result: GoalResult) -> [Block] {
        guard result.sign == 1, result.isOfResponse else { return [] }
        let goal = Self.goal(result.name)
        return [
            .sentence(
                "But this may say nothing: of the \(Wording.count(result.atOnce.whole)) times that people reached "
                    + "\(goal) after they had responded to one of these pushes, \(Wording.percent(result.atOnce)) were "
                    + "within five minutes. If the response itself counts as \(goal), pushes raise it whatever they "
                    + "are worth. Judge by a goal that people reach without a push, too.", .plain)
        ]
    }

    private var unseen: [Block] {
        campaigns.isEmpty
            ? [
                .sentence(
                    "\(name) names no campaign, so nobody sees whether its control arm gets its pushes all the same.",
                    .note)
            ] : []
    }

    /// Why the interval may be read every night.
    package static let method =
        "Everybody counts who was there in the 28 days before the start, each in the arm that was drawn, whatever "
        + "happened to it. The interval is a confidence sequence (Robbins' normal mixture): with 95 % confidence all "
        + "intervals of an experiment hold together, so you may look every night and stop when you like."
}
