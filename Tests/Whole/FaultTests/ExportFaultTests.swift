import Foundation
import Postgres
import TestSupport
import Testing

/// Follows the log by `export`, as a copy elsewhere would: keeps each line that it got whole, and knows where to go on
/// however the export ended.
private struct Follower {
    let bellwether: Bellwether
    let scratch = TemporaryDirectory()
    private(set) var position: Int64 = 0
    private(set) var ids: [String] = []
    /// How many exports were killed while they printed.
    private(set) var cut = 0

    init(_ bellwether: Bellwether) { self.bellwether = bellwether }

    /// Kills what it runs once this has printed so many bytes.
    private static let killing = """
        bytes=$1 output=$2; shift 2
        "$@" >"$output" & child=$!
        while kill -0 $child 2>/dev/null && [ "$(stat -c %s "$output")" -lt "$bytes" ]; do read -rt 0.002 <> <(:); done
        kill -KILL $child 2>/dev/null; wait $child 2>/dev/null; cat "$output"
        """

    /// Exports what is new, and kills it once it has printed so many bytes.
    mutating func follow(killedAt bytes: Int? = nil) throws {
        var killed = bellwether
        if let bytes { killed.runner = ["bash", "-c", Self.killing, "kill", "\(bytes)", scratch("output")] }
        try? FileManager.default.removeItem(atPath: scratch("next"))
        let ended = try killed.run(
            "export", "--format", "ndjson", "--from", "\(position)", "--next", scratch("next"))
        // What was cut off within a line is no line; what was cut off within a batch comes again with the batch.
        let whole = ended.output.lastIndex(of: "\n").map { ended.output[..<$0] } ?? ""
        var events: [(batch: Int64, id: String)] = []
        for line in whole.split(separator: "\n") {
            let event = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            events.append((try #require(event["batch"] as? Int64), try #require(event["event_id"] as? String)))
        }
        if let next = try? String(contentsOfFile: scratch("next"), encoding: .utf8) {
            position = try #require(Int64(next.trimmingCharacters(in: .whitespacesAndNewlines)))
        } else {
            try #require(bytes != nil, "\(ended.messages)")
            if !events.isEmpty { cut += 1 }
            guard let last = events.last?.batch else { return }
            events.removeAll { $0.batch == last }
            position = max(position, last - 1)
        }
        ids += events.map(\.id)
    }
}

@Suite("An export that is killed")
struct ExportFaultTests {
    @Test("and resumed, again and again, with events coming in, has each event once")
    func resumed() throws {
        try ProjectedShop.open { busy in
            let load = Load(clients: 2, on: busy.service, key: busy.app.secret)
            #expect(load.isServed(300))
            var follower = Follower(busy.bellwether)
            let most = FaultLength.isLong ? 200 : 12
            var kills = 0
            // Some end before they are killed: then the rest is short.
            while (kills < most || follower.cut < most / 4) && kills < 20 * most {
                try follower.follow(killedAt: .random(in: 1...200_000))
                kills += 1
            }
            #expect(follower.cut >= most / 4)
            load.stop()
            try follower.follow()
            let stored: [String] = try busy.database.column("SELECT event_id::text FROM log.event")
            #expect(Set(follower.ids) == Set(stored), "missing: \(Set(stored).subtracting(follower.ids).count)")
            #expect(follower.ids.count == stored.count, "repeated: \(follower.ids.count - stored.count)")
            FaultLength.report("exports killed: \(kills), while printing: \(follower.cut), events: \(stored.count)")
        }
    }
}
