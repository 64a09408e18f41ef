import Testing
import Values

@Suite("Days")
struct CivilDateTests {
    @Test("are counted over the ends of months, leap days and years, either way")
    func advance() throws {
        let leapDay = try #require(CivilDate(year: 2024, month: 2, day: 29))
        #expect(leapDay.advanced(by: 1).description == "2024-03-01")
        #expect(leapDay.advanced(by: -60).description == "2023-12-31")
        #expect(leapDay.advanced(by: 366).description == "2025-03-01")
        #expect(leapDay.advanced(by: 0) == leapDay)
    }

    @Test("come one after another")
    func order() throws {
        let first = try #require(CivilDate(year: 1999, month: 12, day: 30))
        let days = (0..<800).map { first.advanced(by: $0) }
        #expect(zip(days, days.dropFirst()).allSatisfy { $0 < $1 && !($1 < $0) })
        #expect(days.shuffled().sorted() == days)
    }
}
