import Postgres
import TestSupport
import Testing

/// What must hold after every fault, whatever it was.
enum Laws {
    /// How many events were found, and how many of those that were acknowledged were not, or twice.
    struct Count {
        var stored = 0
        var lost = 0
        var doubled = 0
    }

    /// Ends the load and checks: what was acknowledged is stored once; sent again, everything is stored once; the
    /// batches tell the truth about the rows; and the funnels are what the log says. `others` were sent beside the
    /// load; `bellwether` is the program that fits the database.
    @discardableResult
    static func check(
        _ load: Load, url: String, others: Set<String> = [], by bellwether: Bellwether? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Count {
        try check(load, cells: [url], others: others, by: bellwether, sourceLocation: sourceLocation)
    }

    /// The same for the cells of a cluster: each event is stored once in all of them together.
    @discardableResult
    static func check(
        _ load: Load, cells: [String], others: Set<String> = [], by bellwether: Bellwether? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Count {
        load.stop()
        #expect(load.surprises.isEmpty, sourceLocation: sourceLocation)
        #expect(!load.acknowledged.isEmpty, sourceLocation: sourceLocation)
        let counts = try rows(of: cells)
        let lost = load.acknowledged.filter { counts[$0] == nil }
        #expect(lost.isEmpty, "acknowledged and not stored", sourceLocation: sourceLocation)
        let doubled = counts.filter { $0.value != 1 }
        #expect(doubled.isEmpty, "stored twice", sourceLocation: sourceLocation)

        let refused = try load.sendAllAgain()
        #expect(refused.isEmpty, sourceLocation: sourceLocation)
        let all = Set(load.sent.flatMap(\.ids))
        let final = try rows(of: cells)
        #expect(
            all.symmetricDifference(final.keys).subtracting(others).isEmpty, "sent and not stored",
            sourceLocation: sourceLocation)
        #expect(final.filter { $0.value != 1 }.isEmpty, "stored twice", sourceLocation: sourceLocation)
        for url in cells {
            var connection = try Connection(url: url)
            try checkBatches(&connection, sourceLocation)
            let strays: Int64 = try connection.query(
                """
                SELECT count(*) FROM log.event AS e JOIN cluster.map AS m ON m.shard = e.codes >> 4 & 63
                CROSS JOIN cluster.state AS s WHERE m.cell IS DISTINCT FROM s.cell
                """)[0].get(0)
            #expect(strays == 0, "events in another cell than their shard", sourceLocation: sourceLocation)
            try checkFunnels(url: url, by: bellwether, sourceLocation: sourceLocation)
        }
        return Count(stored: final.count, lost: lost.count, doubled: doubled.count)
    }

    /// The funnels can be brought level, and counting them anew by another route finds no difference.
    static func checkFunnels(
        url: String, by bellwether: Bellwether? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let bellwether = bellwether ?? Bellwether(database: url)
        for words in [["project", "--once"], ["verify"]] {
            // A long load is long to count.
            let ended = try bellwether.start(words).wait(within: 600)
            #expect(ended.status == 0, "\(words) \(ended)", sourceLocation: sourceLocation)
        }
    }

    private static func rows(of cells: [String]) throws -> [String: Int64] {
        var counts: [String: Int64] = [:]
        for url in cells {
            var connection = try Connection(url: url)
            for row in try connection.query("SELECT event_id::text, count(*) FROM log.event GROUP BY event_id") {
                counts[try row.get(0), default: 0] += try row.get(1)
            }
        }
        return counts
    }

    /// Batch numbers are dense, and each batch has exactly the rows that it says, less those that were erased or
    /// dropped.
    private static func checkBatches(_ connection: inout Connection, _ sourceLocation: SourceLocation) throws {
        let numbers = try connection.query(
            "SELECT count(*), coalesce(min(number), 1), coalesce(max(number), 0) FROM log.batch")[0]
        let (count, least, greatest): (Int64, Int64, Int64) = (
            try numbers.get(0), try numbers.get(1), try numbers.get(2)
        )
        #expect(least == 1 && greatest == count, sourceLocation: sourceLocation)
        let untrue = try connection.query(
            """
            SELECT b.number
            FROM log.batch_expected AS b
            FULL JOIN (SELECT batch_id, count(*) AS events FROM log.event GROUP BY batch_id) AS e ON e.batch_id = b.id
            WHERE b.number IS NULL OR b.events <> coalesce(e.events, 0)
                OR b.events <> (SELECT sum(shard) FROM unnest(b.shard_events) AS shard)
            """)
        #expect(untrue.count == 0, "batches that do not have the rows they say", sourceLocation: sourceLocation)
    }
}
