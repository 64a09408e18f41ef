import Accounts
import Postgres
import Telemetry
import TestSupport
import Testing
import Values

@testable import Registry

/// Registering categories, and filling the tables that their buttons are judged by.
extension TestApp {
    @discardableResult
    func register(_ categories: Category..., set: CategorySet = .own) throws -> Registration {
        try register(CategoryDocument(set: set, categories: categories))
    }

    @discardableResult
    func register(_ text: String) throws -> Registration { try register(CategoryDocument(Array(text.utf8))) }

    /// As the service does it: with its rights and no others.
    @discardableResult
    func register(_ document: CategoryDocument) throws -> Registration {
        var connection = try database.session(.ingest)
        return try Registrar.register(document, of: id, on: &connection)
    }

    /// Deliveries of a category on which buttons were to be seen.
    func exposed(_ category: String, _ deliveries: Int, day: String = "2026-11-20", generation: Int = 1, shard: Int = 0)
        throws
    {
        try insert(
            "category_exposures", generation: generation, shard: shard, day: day,
            ["category": try word(.category, category), "exposed": deliveries])
    }

    /// Taps of a button.
    func tapped(
        _ category: String, _ action: String, _ deliveries: Int, taps: Int? = nil, day: String = "2026-11-20",
        generation: Int = 1, shard: Int = 0
    ) throws {
        try insert(
            "category_actions", generation: generation, shard: shard, day: day,
            [
                "category": category.isEmpty ? 0 : try word(.category, category),
                "action_id": try word(.actionID, action), "tapped_deliveries": deliveries,
                "taps": taps ?? deliveries,
            ])
    }

    /// Rows of a view, as an analyst reads them.
    func rows(_ columns: String, _ view: String, by order: String) throws -> [String] {
        try database.analystRows("SELECT \(columns) FROM \(view) WHERE app = '\(slug)' ORDER BY \(order)")
    }

    /// What each button is said to be.
    func verdicts() throws -> [String] {
        try rows("category, action_id, exposures, tapped_deliveries, verdict", "category_buttons", by: "1, 2")
    }

    func check(since: Timestamp = Event.sampleTime + -86_400_000_000) throws -> RegistryCheck {
        var connection = try database.connect()
        return try RegistryCheck.run(of: app, since: since, on: &connection)
    }
}

extension Button {
    /// A button with an English title.
    static func titled(_ id: String, answer: Answer? = nil) -> Button {
        Button(id: id, titles: [Title("en", id.lowercased())], answer: answer)
    }
}
