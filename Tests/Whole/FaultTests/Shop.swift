import TestSupport

/// One app on a database of a test's own, gone with this.
final class Shop: Sendable {
    let database: TestDatabase
    let app: TestApp
    let bellwether: Bellwether

    init() throws {
        database = try TestDatabase.make()
        app = try database.makeApp()
        bellwether = try Bellwether(database)
    }

    deinit { database.drop() }

    /// Starts so many clients of a service.
    func load(clients: Int = 4, pause: Double = Load.pause, on service: RunningService) -> Load {
        Load(clients: clients, pause: pause, on: service, key: app.secret)
    }
}
