import Foundation
import ServiceRuntime
import TestSupport

/// One service for all tests that do not disturb it; each has an app of its own.
struct SharedService {
    let database: TestDatabase
    let service: RunningService

    private static let running = Result { try start() }
    private static let serial = Lock(0)

    static func get() throws -> SharedService { try running.get() }

    private static func start() throws -> SharedService {
        let database = try TestDatabase.make()
        let service = try Bellwether(database).serve()
        // The test runner leaves by exit(3) and destroys no static.
        atexit { _ = try? SharedService.get().service.stop() }
        return SharedService(database: database, service: service)
    }

    var bellwether: Bellwether {
        get throws { try Bellwether(database) }
    }

    /// An app that no other test knows.
    func makeApp() throws -> TestApp {
        let number = Self.serial.withLock { serial in
            serial += 1
            return serial
        }
        return try database.makeApp("app-\(number)")
    }

    /// Posts one envelope of an app.
    func post(_ body: String, _ app: TestApp, headers: [String: String] = [:]) throws -> RawClient.Answer {
        try service.client().post(body, key: app.secret, headers: headers)
    }
}
