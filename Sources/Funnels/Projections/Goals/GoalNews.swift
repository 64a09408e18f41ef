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

    /// Reads rows of `EventReader.columns` once more. A step whose apps have no goals does not.
    init(in rows: Rows, _ words: EventWords, of table: GoalTable) throws(PostgresError) {
        var apps = table.apps
        for row in 0..<rows.count where try Self.type(row, of: rows) == .goalReached {
            let goal = ReachedGoal(
                app: try need(rows.int32(row, 1)), shard: try need(rows.int16(row, 2)),
                install: try need(rows.uuid(row, 3)), moment: try Observation(row, of: rows, words).moment,
                goal: words.counted(try rows.int32(row, 14) ?? 0))
            apps[goal.shard, default: []].insert(goal.app)
            goals.append(goal)
        }
        for row in 0..<rows.count {
            guard let app = try rows.int32(row, 1), let shard = try rows.int16(row, 2),
                apps[shard]?.contains(app) ?? false, try Self.type(row, of: rows)?.mayLeadToGoal ?? false,
                let name = try EventReader.delivery(row, of: rows)
            else { continue }
            let observation = try Observation(row, of: rows, words)
            guard let rule = observation.goalRule else { continue }
            touches.append(GoalTouch(delivery: name, moment: observation.moment, rule: rule))
        }
    }

    /// The apps that reached a goal, by shard.
    var apps: [Int16: Set<Int32>] {
        goals.reduce(into: [:]) { apps, goal in apps[goal.shard, default: []].insert(goal.app) }
    }

    static func type(_ row: Int, of rows: Rows) throws(PostgresError) -> EventType? {
        EventType(rawValue: EventBits.of(.type).value(in: try need(rows.int32(row, 8))))
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
