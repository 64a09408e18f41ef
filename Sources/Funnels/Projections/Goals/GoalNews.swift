internal import Postgres
internal import Telemetry
internal import Values

/// Something that a goal may count for: a receipt that showed something, or a response.
struct GoalTouch {
    let delivery: Delivery.Name
    let moment: Moment
    let rule: DeliveryGoals.Rule
}

/// A `goal.reached`. What it was worth stands in the log.
struct ReachedGoal {
    let app: Int32
    let shard: Int16
    let install: UUID
    let moment: Moment
    /// The id of its word.
    let goal: Int32
}

/// What a step learned of goals, and of what they may count for.
struct GoalNews {
    var touches: [GoalTouch] = []
    var goals: [ReachedGoal] = []

    init(in events: StepEvents, of table: GoalTable) throws(PostgresError) {
        var apps = table.apps
        for event in events.events where event.type == .goalReached {
            goals.append(
                ReachedGoal(
                    app: event.app, shard: event.shard, install: event.install, moment: event.moment,
                    goal: events.words.counted(event.word)))
            apps[event.shard, default: []].insert(event.app)
        }
        for event in events.events where event.isOfDelivery && event.type.mayLeadToGoal {
            guard apps[event.shard]?.contains(event.app) ?? false else { continue }
            let observation = try Observation(event, events.words)
            guard let rule = observation.goalRule else { continue }
            touches.append(GoalTouch(delivery: events.name(of: event), moment: observation.moment, rule: rule))
        }
    }

    /// The apps that reached a goal, by shard.
    var apps: [Int16: Set<Int32>] {
        goals.reduce(into: [:]) { apps, goal in apps[goal.shard, default: []].insert(goal.app) }
    }
}

extension StepEvents {
    /// Nil if nothing of it concerns goals.
    func goals(of table: GoalTable) throws(PostgresError) -> GoalNews? {
        guard !table.apps.isEmpty || events.contains(where: { $0.type == .goalReached }) else { return nil }
        return try GoalNews(in: self, of: table)
    }
}

extension EventType {
    /// Whether a goal may count for an event of this type.
    fileprivate var mayLeadToGoal: Bool {
        switch self {
        case .notificationReceived, .notificationOpened, .actionTapped, .storyActionTapped: true
        default: false
        }
    }
}

extension Observation {
    /// By which rule a goal may count for it; nil if none may. A silent receipt showed nothing to anybody, and neither
    /// did one that the app kept to itself.
    fileprivate var goalRule: DeliveryGoals.Rule? {
        switch type {
        case .notificationOpened, .actionTapped, .storyActionTapped: .response
        case .notificationReceived: breaksSilence && foregroundPresentation != .toNobody ? .receipt : nil
        default: nil
        }
    }
}
