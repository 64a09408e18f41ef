import Testing
import Values

@testable import Reports

@Suite("What kept reports ask and nothing has mended")
struct OpenDeedsTests {
    private let monday: CivilDate

    init() throws { monday = try #require(CivilDate(year: 2026, month: 11, day: 16)) }

    private func told(_ place: Int, _ ask: String, _ category: String = "SALE") -> OpenDeeds.Told {
        .init(
            day: monday.advanced(by: place), what: "\(ask): on day \(place)", ask: ask, section: "Categories",
            subject: .init(kind: "category", name: category))
    }

    private func open(_ told: [OpenDeeds.Told], days: Int, had: Bool = true) -> [String] {
        OpenDeeds.open(told, reported: (0..<days).map { monday.advanced(by: $0) }) { _, _ in had }.map(\.what)
    }

    @Test(
        "it stays until a later day that had the same asks no more; what is asked again stands once, with its last words"
    )
    func carried() {
        #expect(open([told(0, "Mend")], days: 1) == ["Mend: on day 0"])
        #expect(open([told(0, "Mend"), told(1, "Mend")], days: 2) == ["Mend: on day 1"])
        #expect(open([told(0, "Mend")], days: 2) == [])
        #expect(open([told(0, "Mend")], days: 2, had: false) == ["Mend: on day 0"])
    }

    @Test(
        "a report that names as many things as it may can have left one out, so it proves nothing mended; six at most")
    func full() {
        let many = ["A", "B", "C"].map { told(1, $0) }
        #expect(open([told(0, "Mend")] + many, days: 2).last == "Mend: on day 0")
        let days = (0..<7).flatMap { day in ["A", "B", "C"].map { told(day, "\($0)\(day)") } }
        #expect(open(days, days: 7).count == 6 && open(days, days: 7).first == "A6: on day 6")
    }

    @Test("its words are those of the week's report")
    func words() {
        #expect(told(0, "Mend").words == .sentence("Mend: on day 0 (report on Mon 16 Nov, “Categories”).", .plain))
    }
}
