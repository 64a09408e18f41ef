internal import Postgres
internal import Values

/// The shards that one step moves together, locked by its transaction, and their positions.
struct Lane {
    let generation: Int32
    let shards: [Int16]
    /// The positions of the shard furthest behind and of the one furthest ahead; a step moves shards of one position.
    let position: Int64
    let furthest: Int64
    let members: [Member]
    /// The projectors of this program.
    let projectors: [any Projector.Type]

    /// A projector of the generation.
    struct Member {
        let name: String
        let version: Int32
        /// The number of its tables.
        let tablesGeneration: Int32
        /// The first batch that it could not take.
        var stoppedBatch: Int64?
    }

    let deliveries: DeliveryTable
    let installDays: InstallDayTable

    var goals: GoalTable { deliveries.goals }
}

extension Lane {
    /// Which generation a step is for: the live one, or one that is being built.
    enum Choice: Sendable {
        case live
        case building(Int32)

        /// Nil for the live one.
        var generation: Int32? { if case .building(let generation) = self { generation } else { nil } }
    }

    /// Locks some shards that are behind `head`, those furthest behind first; nil if others are moving all of them.
    /// Reads the members under the lock, so that nobody changes them meanwhile.
    static func claim(
        _ choice: Choice, of projectors: [any Projector.Type] = Projectors.all, behind head: Int64, atMost count: Int32,
        on connection: inout Connection
    ) throws(PostgresError) -> Lane? {
        let rows = try connection.queryPrepared(
            """
            SELECT p.generation, p.shard, p.position, nullif(p.goal_apps, '{}') AS goal_apps FROM projection.progress AS p
            WHERE p.generation = projection.chosen_generation(\(choice.generation)) AND p.position < \(head)
            ORDER BY p.position, p.shard LIMIT \(count) FOR UPDATE SKIP LOCKED
            """)
        guard let first = rows.first else { return nil }
        let position: Int64 = try first.get("position")
        var shards: [Int16] = []
        var goalApps: [Int16: Set<Int32>] = [:]
        for row in rows where try row.get("position", as: Int64.self) == position {
            let shard: Int16 = try row.get("shard")
            shards.append(shard)
            if let apps: [Int32] = try row.optional("goal_apps") { goalApps[shard] = Set(apps) }
        }
        return try Lane(
            generation: try first.get("generation"), shards: shards, position: position, furthest: position,
            goalApps: goalApps,
            of: projectors, on: &connection)
    }

    /// Locks these shards (nil: all), and waits if others are moving them. Nil if the generation no longer exists.
    static func lock(
        _ wanted: [Int16]?, of choice: Choice, on connection: inout Connection
    ) throws(PostgresError) -> Lane? {
        let rows = try connection.queryPrepared(
            """
            SELECT p.generation, p.shard, p.position, nullif(p.goal_apps, '{}') AS goal_apps FROM projection.progress AS p
            WHERE p.generation = projection.chosen_generation(\(choice.generation))
                AND (\(wanted) IS NULL OR p.shard = ANY (\(wanted)))
            ORDER BY p.shard FOR UPDATE
            """)
        guard let first = rows.first else { return nil }
        var shards: [Int16] = []
        var positions: [Int64] = []
        var goalApps: [Int16: Set<Int32>] = [:]
        for row in rows {
            let shard: Int16 = try row.get("shard")
            shards.append(shard)
            positions.append(try row.get("position"))
            if let apps: [Int32] = try row.optional("goal_apps") { goalApps[shard] = Set(apps) }
        }
        let lane = try Lane(
            generation: try first.get("generation"), shards: shards, position: positions.min() ?? 0,
            furthest: positions.max() ?? 0, goalApps: goalApps,
            of: Projectors.all, on: &connection)
        return try lane.settled(on: &connection)
    }

    private init(
        generation: Int32, shards: [Int16], position: Int64, furthest: Int64, goalApps: [Int16: Set<Int32>],
        of projectors: [any Projector.Type], on connection: inout Connection
    ) throws(PostgresError) {
        let rows = try connection.queryPrepared(
            """
            SELECT p.name, p.version, p.tables_generation, p.stopped_batch, l.secret
            FROM projection.projector AS p JOIN projection.generation AS l ON l.id = p.generation
            WHERE l.id = \(generation) ORDER BY p.name
            """)
        var members: [Member] = []
        for row in rows {
            members.append(
                Member(
                    name: try row.get("name"), version: try row.get("version"),
                    tablesGeneration: try row.get("tables_generation"),
                    stoppedBatch: try row.optional("stopped_batch")))
        }
        let secret: UUID = try rows.first?.get("secret") ?? UUID(high: 0, low: 0)
        self.init(
            generation: generation, shards: shards, position: position, furthest: furthest, members: members,
            projectors: projectors,
            deliveries: DeliveryTable(number: generation, secret: secret, goalApps: goalApps),
            installDays: InstallDayTable(number: generation, secret: secret))
    }

    /// The same lane, which keeps what goals of these apps need.
    func keepingGoals(of apps: [Int16: Set<Int32>]) -> Lane {
        var deliveries = deliveries
        deliveries.goals.apps = apps
        return Lane(
            generation: generation, shards: shards, position: position, furthest: furthest, members: members,
            projectors: projectors, deliveries: deliveries, installDays: installDays)
    }

    /// Whether all projectors of the generation run and belong to this program, so that we know everything that a
    /// delivery counts for.
    var isWhole: Bool {
        isRunning && running.count == projectors.count && members.count == running.count + 1
    }

    /// Moves the shards forward, if they are still where they were found.
    func move(to position: Int64, on connection: inout Connection) throws {
        let moved = try connection.queryPrepared(
            """
            UPDATE projection.progress SET position = \(position), moved_at = clock_timestamp()
            WHERE generation = \(generation) AND shard = ANY (\(shards)) AND position = \(self.position)
            """
        ).affected
        guard moved == shards.count else { throw StepError.overtaken }
    }
}
