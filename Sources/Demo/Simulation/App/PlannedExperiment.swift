package import Values

/// A new kind of push that an app tries on some of its installs. What it changes is planted here.
package struct PlannedExperiment: Sendable {
    package let name: String
    /// In percent.
    package let control: Int
    /// How many days after the beginning it starts.
    package let startsAfterDays: Int
    package let goals: [String]
    /// Sent from the start on, and to the other arm only.
    let series: Series
    /// The share of people who reach the first goal after they came by one of its pushes.
    let reached: Double

    package var campaigns: [String] { series.names }
}

extension PlannedExperiment {
    /// It in a world, with the rule that its sender applies.
    struct Running: Sendable {
        let plan: PlannedExperiment
        let start: Timestamp
        let isControl: @Sendable (UUID) -> Bool

        /// Whether an install is left without a push.
        func leavesOut(_ install: UUID, of series: Series) -> Bool {
            series.names == plan.series.names && isControl(install)
        }

        /// The share of people who reach a goal after a push of it; nil for what it does not change.
        func share(of goal: String, after campaign: Campaign) -> Double? {
            campaign.series.names == plan.series.names && goal == plan.goals.first ? plan.reached : nil
        }
    }
}

extension World {
    /// Lets the app try its new push from a moment on. Without this, it is never sent.
    package mutating func run(
        _ plan: PlannedExperiment, from start: Timestamp, isControl: @escaping @Sendable (UUID) -> Bool
    ) {
        experiment = PlannedExperiment.Running(plan: plan, start: start, isControl: isControl)
    }

    /// What is sent on a day that ends after this moment.
    func series(at time: Timestamp) -> [Series] {
        guard let experiment, time >= experiment.start else { return app.series }
        return app.series + [experiment.plan.series]
    }
}
