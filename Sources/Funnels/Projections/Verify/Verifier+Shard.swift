internal import Postgres
internal import ServiceRuntime

extension Verifier {
    /// Recounts some shards in one transaction, which is rolled back to remove the temporary tables.
    func verify(
        _ generation: Generation, set: ShardSet, into report: inout VerificationReport,
        on connection: inout Connection, beginning: (Int16) throws -> Void
    ) throws {
        try connection.execute(script: "BEGIN ISOLATION LEVEL REPEATABLE READ")
        defer { connection.rollBack() }
        // This comes before the snapshot: dropping a partition removes its rows from every snapshot.
        let tables = ["log.event"] + recounts.map { "projection.\(Recount.quoted($0.table))" }
        try connection.execute(script: "LOCK TABLE \(tables.joined(separator: ", ")) IN ACCESS SHARE MODE")
        let places = try places(of: generation, set.shards, on: &connection)
        // They are all of one generation.
        guard let first = places.first else { return }
        let days = try since.map { day throws(PostgresError) in try ProvedDays(since: day, on: &connection) }
        let copy = try RecountTables.copy(
            places.map { ($0.shard, $0.position) }, perTable: set.perTable, of: days, generation: first.generation,
            on: &connection)
        let moving = first.isLive ? try noteMoves(in: &report, on: &connection) : []
        var comparisons = try comparisons(
            of: first.generation, days, without: moving, into: &report, on: &connection)
        let stored = try comparisons.map { comparison in
            try comparison.storedDigests(of: set.shards, on: &connection)
        }
        let filled = try filledShards(among: set.shards, in: copy, on: &connection).union(stored.flatMap(\.keys))
        var differing: [Int16: Set<Int>] = [:]
        for place in places {
            try beginning(place.shard)
            report.shards.append((place.shard, place.generation, place.position))
            try findGaps(place, in: copy, into: &report, on: &connection)
            guard filled.contains(place.shard) else { continue }
            try recounting(place.shard, of: copy, on: &connection) { connection in
                CrashPoint.pass("recounted")
                let totals = try connection.query(
                    "SELECT count(*) AS deliveries, coalesce(sum(events), 0)::bigint AS events FROM recount_delivery")[
                        0]
                report.deliveries += try totals.get("deliveries")
                report.events += try totals.get("events")
                for (index, comparison) in comparisons.enumerated() {
                    let recounted = try comparison.recountedDigest(on: &connection)
                    if recounted == stored[index][place.shard] ?? .nothing {
                        report.cells += recounted.rows
                    } else {
                        differing[place.shard, default: []].insert(index)
                    }
                }
            }
        }
        // One pass over each table pays for several shards.
        for index in Set(differing.values.joined()).sorted() where differing.count > 2 {
            try comparisons[index].keepStored(of: differing.keys.sorted(), on: &connection)
        }
        for (shard, indices) in differing.sorted(by: { $0.key < $1.key }) {
            try recounting(shard, of: copy, on: &connection) { connection in
                try compare(
                    indices.sorted().map { comparisons[$0] }, deliveries: comparisons.first(where: \.isOfDeliveries),
                    shard: shard, into: &report, on: &connection)
            }
        }
    }

    /// Lets something be done while a shard's tables are there.
    private func recounting(
        _ shard: Int16, of copy: LogCopy, on connection: inout Connection, _ body: (inout Connection) throws -> Void
    ) throws {
        try connection.execute(script: "SAVEPOINT shard")
        try RecountTables.make(shard, of: copy, on: &connection)
        try body(&connection)
        // Taking it back removes the shard's tables.
        try connection.execute(script: "ROLLBACK TO shard")
    }

    /// What is compared, table by table, without these apps. What is not is noted.
    private func comparisons(
        of generation: Int32, _ days: ProvedDays?, without apps: [Int32], into report: inout VerificationReport,
        on connection: inout Connection
    ) throws(PostgresError) -> [Comparison] {
        let projectors = try projectors(of: generation, on: &connection)
        for projector in projectors.values {
            if let reason = projector.stopReason {
                report.note(VerificationReport.Omission(projector: projector.name, reason: reason))
            } else if !recounts.contains(where: { $0.projector == projector.name }) {
                report.note(
                    VerificationReport.Omission(projector: projector.name, reason: "this program cannot recount it"))
            }
        }
        if try isUnderOlderWords(generation, on: &connection) {
            report.isUnderOlderWords = true
            return []
        }
        for name in Set(recounts.map(\.projector)).sorted() where projectors[name] == nil {
            report.note(VerificationReport.Omission(projector: name, reason: "the generation does not have it"))
        }

        var comparisons: [Comparison] = []
        for recount in recounts where days == nil || recount.isOfDays {
            guard let projector = projectors[recount.projector], projector.stopReason == nil else { continue }
            comparisons.append(
                try Comparison(
                    recount: recount, generation: projector.tablesGeneration, apps: apps, days: days, on: &connection))
        }
        return comparisons
    }

    /// Whether words were merged or pruned after the generation was made: its cells are then of other words than the
    /// log's.
    private func isUnderOlderWords(
        _ generation: Int32, on connection: inout Connection
    ) throws(PostgresError) -> Bool {
        try connection.query(
            """
            SELECT EXISTS (
                SELECT FROM projection.generation AS l JOIN log.head AS h ON h.words > l.words WHERE l.id = \(generation))
            """
        ).value()
    }

    /// The shards of which the log has an event. Those of which no compared table has a row either need no recount:
    /// databases that are young, or have few installs, have many of them.
    private func filledShards(
        among shards: [Int16], in copy: LogCopy, on connection: inout Connection
    ) throws(PostgresError) -> Set<Int16> {
        let logs = shards.map { "SELECT \($0)::smallint WHERE EXISTS (SELECT FROM \(copy.events(of: $0)) AS copied)" }
        return Set(try connection.query(Statement(logs.joined(separator: " UNION ALL "), [])).values())
    }

    private func findGaps(
        _ place: Place, in copy: LogCopy, into report: inout VerificationReport, on connection: inout Connection
    ) throws(PostgresError) {
        let gaps = try BatchGate.gaps(
            among: copy.counts(of: place.shard), shard: place.shard, from: copy.days?.firstBatch ?? 1,
            position: place.position,
            atMost: mostDifferences, on: &connection)
        report.gaps += gaps.first.prefix(mostDifferences - report.gaps.count)
        report.gapCount += gaps.count
    }

    /// Compares cell with cell what does not agree as a whole. `deliveries` are the ones behind the cells, if they are
    /// compared.
    private func compare(
        _ comparisons: [Comparison], deliveries: Comparison?, shard: Int16, into report: inout VerificationReport,
        on connection: inout Connection
    ) throws {
        // By sorting both sides, since anybody can choose names and cells that have one hash.
        try connection.execute(script: "SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = on")
        var differing: [Comparison] = []
        for comparison in comparisons {
            let counts = try comparison.count(in: shard, on: &connection)
            report.cells += counts.cells
            report.count(differing: counts.differing, of: comparison.recount.table)
            if counts.differing > 0 { differing.append(comparison) }
        }
        guard !differing.isEmpty, report.differences.count < mostDifferences else { return }
        var noted: String?
        if let comparison = differing.first(where: \.isOfDeliveries) {
            try comparison.noteDiffering(as: "recount_differing", in: shard, on: &connection)
            noted = "recount_differing"
        }
        let deliveries = Deliveries(stored: deliveries?.stored(shard), differing: noted, limit: mostDeliveries)
        // Funnels come first: a differing delivery also shows behind their cells.
        for comparison in differing.filter(\.recount.isSum) + differing.filter({ !$0.recount.isSum })
        where report.differences.count < mostDifferences {
            report.differences += try comparison.differences(
                atMost: mostDifferences - report.differences.count, in: shard, deliveries: deliveries, on: &connection)
        }
    }
}

/// The position of a generation in a shard.
private struct Place {
    let shard: Int16
    let generation: Int32
    let position: Int64
    let isLive: Bool
}

/// A projector of a generation.
private struct GenerationMember {
    let name: String
    let tablesGeneration: Int32
    /// Nil if it runs and follows the rules of this program.
    let stopReason: String?
}

extension Verifier {
    /// The positions of a generation in these shards, in their order.
    private func places(
        of generation: Generation, _ shards: [Int16], on connection: inout Connection
    ) throws -> [Place] {
        let number: Int32? = if case .number(let number) = generation { number } else { nil }
        let rows = try connection.query(
            """
            SELECT p.shard, p.generation, p.position, l.state = 'live' AS is_live
            FROM projection.progress AS p JOIN projection.generation AS l ON l.id = p.generation
            WHERE p.shard = ANY (\(shards)) AND CASE WHEN \(number)::integer IS NULL THEN l.state = 'live' ELSE l.id = \(number) END
            """)
        var places: [Int16: Place] = [:]
        for row in rows {
            let shard: Int16 = try row.get("shard")
            places[shard] = Place(
                shard: shard, generation: try row.get("generation"), position: try row.get("position"),
                isLive: try row.get("is_live"))
        }
        return try shards.map { shard in
            guard let place = places[shard] else { throw VerifierError.unknownGeneration(generation) }
            return place
        }
    }

    private func projectors(
        of generation: Int32, on connection: inout Connection
    ) throws(PostgresError) -> [String: GenerationMember] {
        let rows = try connection.query(
            """
            SELECT name, tables_generation, version, CASE WHEN stopped_at IS NOT NULL
                THEN format('it is stopped at batch %s: %s', stopped_batch, stopped_because) END AS stop
            FROM projection.projector WHERE generation = \(generation) ORDER BY name
            """)
        let versions = Projectors.versions(of: Projectors.all)
        var projectors: [String: GenerationMember] = [:]
        for row in rows {
            let (name, version): (String, Int32) = (try row.get("name"), try row.get("version"))
            let known = versions[name] ?? version
            let otherRules: String? =
                version == known
                ? nil
                : "its tables were counted by version \(version) of its rules, and this program has version \(known)"
            let projector = GenerationMember(
                name: name, tablesGeneration: try row.get("tables_generation"),
                stopReason: try row.optional("stop") ?? otherRules)
            projectors[projector.name] = projector
        }
        return projectors
    }

    /// The apps whose days are on their way to another zone, or to other rules of their zone: some stand here and some
    /// there, and neither is wrong.
    private func noteMoves(
        in report: inout VerificationReport, on connection: inout Connection
    ) throws(PostgresError) -> [Int32] {
        try ZoneChange.pending(.found, on: &connection).map { change in
            report.note(VerificationReport.Move(app: change.slug, from: change.former, to: change.timeZone))
            return change.app
        }
    }
}
