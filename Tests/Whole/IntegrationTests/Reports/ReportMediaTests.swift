import Telemetry
import TestSupport
import Testing
import Values

@testable import Registry
@testable import Reports

@Suite("Media in a report")
struct ReportMediaTests {
    @Test("beside buttons count only where a content extension shows the category, and audio only in Hive's categories")
    func registered() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        try app.register(
            Category(id: "SHOWN", buttons: [.titled("A")], contentExtension: true),
            Category(id: "BANNER", buttons: [.titled("A")]), Category(id: "BARE", contentExtension: true))
        try app.register(Preset.hive.document)
        for category in ["SHOWN", "BANNER", "BARE", "SALE_CATEGORY", "UNKNOWN"] {
            let word = try app.word(.category, category)
            try app.insert("category_funnel", ["category": word, "delivered": 200, "media_attached": 2])
            try app.insert(
                "media_funnel", ["category": word, "kind": 3, "network": 1, "outcome": 1, "deliveries": 7])
        }
        // Attached, and not what was skipped.
        try app.insert(
            "media_funnel",
            [
                "category": try app.word(.category, "SALE_CATEGORY"), "kind": 3, "network": 1, "outcome": 5,
                "deliveries": 70,
            ])
        var analyst = try database.connect(as: TestPostgres.analyst)
        let day = try #require(CivilDate(year: 2026, month: 11, day: 20))
        let report = try ReportReader(
            app: app.slug, period: .day(day), now: Timestamp(microseconds: 1_795_392_000_000_000)
        ).read(on: &analyst)
        #expect(
            report.mediaWithButtons == [
                MediaWithButtons(category: "SALE_CATEGORY", deliveries: 2, delivered: 200),
                MediaWithButtons(category: "SHOWN", deliveries: 2, delivered: 200),
            ])
        #expect(report.mediaWithButtons.allSatisfy { !$0.isAlarming } && report.audioInHive == 7)
    }
}
