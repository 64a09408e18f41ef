internal import Postgres
internal import ServiceRuntime

extension Verifier {
    /// Recounts some shards in one transaction, which is rolled back to remove the temporary tables.
    func verify(
        _ generation: Generation, set shards: [Int16], into report: inout VerificationReport,
        on connection: inout Connection, beginning: (Int16) throws -> Void
    ) throws {
        try connection.execute(script: "BEGIN ISOLATION LEVEL REPEATABLE READ")
        defer { connection.rollBack() }
        // This comes before the snapshot: dropping a partition removes its rows from every snapshot.
        let tables = ["log.event"] + recounts.map { "projection.\(Recount.quoted($0.table))" }
        try connection.execute(script: "LOCK TABLE \(tables.joined(separator: ", ")) IN ACCESS SHARE MODE")
        let places = try shards.map { shard in try place(of: generation, shard: shard, on: &connection) }
        try RecountTables.copy(
            zip(shards, places).map { shard, place in (shard, place.position) }, on: &connection)
        for (shard, place) in zip(shards, places) {
            try beginning(shard)
            // Taking it back removes the shard's tables.
            try connection.execute(script: "SAVEPOINT shard")
            try verify(shard, at: place, into: &report, on: &connection)
            try connection.execute(script: "ROLLBACK TO shard")
        }
    }

    private func verify(
        _ shard: Int16, at place: Place, into report: inout VerificationReport, on connection: inout Connection
    ) throws {
        report.shards.append((shard, place.generation, place.position))
        if place.isLive { try noteMoves(in: &report, on: &connection) }
        let projectors = try projectors(of: place.generation, on: &connection)
        for projector in projectors.values {
            if let reason = projector.stopReason {
                report.note(VerificationReport.Omission(projector: projector.name, reason: reason))
            } else if !recounts.contains(where: { $0.projector == projector.name }) {
                report.note(
                    VerificationReport.Omission(projector: projector.name, reason: "this program cannot recount it"))
            }
        }
        for name in Set(recounts.map(\.projector)).sorted() where projectors[name] == nil {
            report.note(VerificationReport.Omission(projector: name, reason: "the generation does not have it"))
        }

        try RecountTables.open(shard, on: &connection)
        let gaps = try BatchGate.gaps(
            shard: shard, position: place.position, atMost: mostDifferences, on: &connection)
        report.gaps += gaps.first.prefix(mostDifferences - report.gaps.count)
        report.gapCount += gaps.count
        let totals = try connection.query(
            "SELECT count(*), coalesce(sum(events), 0)::bigint FROM recount_delivery")[0]
        report.deliveries += try totals.get(0)
        report.events += try totals.get(1)
        let comparisons = recounts.compactMap { recount in
            projectors[recount.projector].flatMap { projector in
                projector.stopReason == nil
                    ? Comparison(recount: recount, generation: projector.tablesGeneration, shard: shard) : nil
            }
        }
        CrashPoint.pass("recounted")
        try compare(comparisons, shard: shard, into: &report, on: &connection)
    }

    private func compare(
        _ comparisons: [Comparison], shard: Int16, into report: inout VerificationReport,
        on connection: inout Connection
    ) throws(PostgresError) {
        var differing: [Comparison] = []
        for comparison in comparisons {
            let counts = try comparison.count(on: &connection)
            report.cells += counts.cells
            report.count(differing: counts.differing, of: comparison.recount.table)
            if counts.differing > 0 { differing.append(comparison) }
        }
        guard !differing.isEmpty, report.differences.count < mostDifferences else { return }
        let isDelivery = { (comparison: Comparison) in comparison.recount.table == Recount.delivery.table }
        var noted: String?
        if let comparison = differing.first(where: isDelivery) {
            try comparison.noteDiffering(as: "recount_differing", on: &connection)
            noted = "recount_differing"
        }
        let deliveries = Deliveries(
            stored: comparisons.first(where: isDelivery).map { $0.recount.stored(in: $0.generation, shard: shard) },
            differing: noted, limit: mostDeliveries)
        // Funnels come first: a differing delivery also shows behind their cells.
        for comparison in differing.filter(\.recount.isSum) + differing.filter({ !$0.recount.isSum })
        where report.differences.count < mostDifferences {
            report.differences += try comparison.differences(
                atMost: mostDifferences - report.differences.count, deliveries: deliveries, on: &connection)
        }
    }
}

/// The position of a generation in a shard.
private struct Place {
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
    private func place(
        of generation: Generation, shard: Int16, on connection: inout Connection
    ) throws -> Place {
        let rows =
            switch generation {
            case .live:
                try connection.query(
                    """
                    SELECT p.generation, p.position, true FROM projection.progress AS p JOIN projection.generation AS l ON l.id = p.generation
                    WHERE l.state = 'live' AND p.shard = \(shard)
                    """)
            case .number(let number):
                try connection.query(
                    """
                    SELECT p.generation, p.position, l.state = 'live'
                    FROM projection.progress AS p JOIN projection.generation AS l ON l.id = p.generation
                    WHERE p.generation = \(number) AND p.shard = \(shard)
                    """)
            }
        guard let row = rows.first else { throw VerifierError.unknownGeneration(generation) }
        return Place(generation: try row.get(0), position: try row.get(1), isLive: try row.get(2))
    }

    private func projectors(
        of generation: Int32, on connection: inout Connection
    ) throws(PostgresError) -> [String: GenerationMember] {
        let rows = try connection.query(
            """
            SELECT name, tables_generation, version, CASE WHEN stopped_at IS NOT NULL
                THEN format('it is stopped at batch %s: %s', stopped_batch, stopped_because) END
            FROM projection.projector WHERE generation = \(generation) ORDER BY name
            """)
        let versions = Projectors.versions(of: Projectors.all)
        var projectors: [String: GenerationMember] = [:]
        for row in rows {
            let (name, version): (String, Int32) = (try row.get(0), try row.get(2))
            let known = versions[name] ?? version
            let otherRules: String? =
                version == known
                ? nil
                : "its tables were counted by version \(version) of its rules, and this program has version \(known)"
            let projector = GenerationMember(
                name: name, tablesGeneration: try row.get(1), stopReason: try row.optional(3) ?? otherRules)
            projectors[projector.name] = projector
        }
        return projectors
    }

    private func noteMoves(
        in report: inout VerificationReport, on connection: inout Connection
    ) throws(PostgresError) {
        let rows = try connection.query(
            """
            SELECT app.slug, zone.time_zone, app.time_zone
            FROM projection.zone AS zone JOIN log.app AS app ON app.id = zone.app
            WHERE zone.time_zone <> app.time_zone OR zone.made <> zone.changes ORDER BY app.slug
            """)
        for row in rows {
            report.note(
                VerificationReport.Move(app: try row.get(0), from: try row.get(1), to: try row.get(2)))
        }
    }
}
