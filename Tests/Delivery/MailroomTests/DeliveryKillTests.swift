import Glibc
import Postgres
import TestSupport
import Testing

@Suite("A delivery is killed at a named point")
struct DeliveryKillTests {
    /// From the transaction that keeps a report to what is noted last, and whether the place may hear it twice then.
    static let points = [
        ("letters begun", false), ("letters written", false), ("letters kept", false), ("round begun", false),
        ("letter begun", false), ("letter sent", true), ("letter ended", false),
    ]

    @Test("each report reaches each place once, or again with the same id and marked as a repeat")
    func killed() throws {
        let night = try Night("chat", "shop")
        defer { night.database.drop() }
        let places = [try ListeningPlace(), try ListeningPlace()]
        try night.places(night.json("one", places[0]), night.json("two", places[1]))
        for (number, (point, mayRepeat)) in Self.points.enumerated() {
            let day = "2026-11-0\(number + 1)"
            let killed = try night.run(day, by: night.bellwether.dying(at: point))
            #expect(killed.status != 0, "\(point): \(killed)")
            let ended = try night.run(day)
            #expect(ended.status == 0, "\(point): \(ended)")
            for place in places {
                for app in ["chat", "shop"] {
                    let heard = place.heard.filter { $0.period == day && $0.object["app"] as? String == app }
                    #expect((1...(mayRepeat ? 2 : 1)).contains(heard.count), "\(point), \(app): \(heard.count) times")
                    #expect(Set(heard.map { $0.headers["webhook-id"] }).count == 1, "\(point)")
                    #expect(heard.dropFirst().allSatisfy { $0.isRepeat }, "\(point)")
                }
            }
        }
        // Killed after sending, one of them was heard twice.
        let all = places.flatMap(\.heard)
        #expect(all.count == 2 * 2 * Self.points.count + 1)
        // Killed before sending, nobody knows: the first that is heard may say that it is a repeat.
        #expect(all.count { $0.isRepeat } == 2)
        let states = try night.database.column("SELECT DISTINCT state FROM report.letter", of: String.self)
        #expect(states == ["sent"])
    }
}
