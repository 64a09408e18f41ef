/// An app on a database of a test's own, and the command line. The database goes with it.
package final class Shop: Sendable {
    package let database: TestDatabase
    package let app: TestApp
    package let bellwether: Bellwether

    package init(_ slug: String = "chat", timeZone: String = "UTC") throws {
        database = try TestDatabase.make()
        app = try database.makeApp(slug, timeZone: timeZone)
        bellwether = try Bellwether(database)
    }

    deinit { database.drop() }
}

/// An app on a database of a test's own, and a service that takes its events and keeps its funnels.
package struct ProjectedShop {
    private let shop: Shop
    package let service: RunningService

    package var database: TestDatabase { shop.database }
    package var app: TestApp { shop.app }
    package var bellwether: Bellwether { shop.bellwether }

    /// Lends one, and takes everything away again. `words` go to `serve`.
    package static func open(
        _ words: String..., timeZone: String = "UTC", _ body: (ProjectedShop) throws -> Void
    ) throws {
        let shop = try Shop("shop", timeZone: timeZone)
        // Longer than the service.
        defer { withExtendedLifetime(shop) {} }
        let service = try shop.bellwether.serve(words)
        defer { _ = try? service.stop() }
        try body(ProjectedShop(shop: shop, service: service))
    }
}
