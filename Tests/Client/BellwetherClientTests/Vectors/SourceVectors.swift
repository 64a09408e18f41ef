import Foundation
import TestSupport
import Testing

@testable import BellwetherClient

/// What the system says of permission and settings, as a vector says it, and what the library makes of it.
enum SourceVectors {
    private typealias Library = BellwetherClient.Bellwether

    static func outcome(_ given: Given) throws -> Any {
        let scratch = TemporaryDirectory()
        let phone = Phone(permission: URL(fileURLWithPath: scratch("permission")))
        let at: Int = try #require(given["clock"])
        phone.set(clock: Date(timeIntervalSince1970: Double(at) / 1000))
        for look in given.list("looks") {
            if let seconds: Int = look["wait"] { phone.wait(Double(seconds)) }
            let (authorization, previews): (String?, String?) = (look["authorization"], look["show_previews"])
            phone.bellwether.learn(
                Permission(
                    authorization: try authorization.map { try #require(.init(rawValue: $0)) },
                    previews: try previews.map { try #require(.init(rawValue: $0)) },
                    settings: try look.object("settings").map { try settings($0) }))
        }
        let described = phone.bellwether.source.withLock { $0 }.description.json(install: UUID())
        let source = try #require(try JSONSerialization.jsonObject(with: Data(described)) as? [String: Any])
        let told = ["authorization", "show_previews", "settings"]
        return ["events": try EventVectors.events(of: phone), "source": source.filter { told.contains($0.key) }]
    }

    private static func settings(_ given: Given) throws -> Library.Settings {
        var settings = Library.Settings()
        let places: [(String, WritableKeyPath<Library.Settings, Library.Settings.Setting?>)] = [
            ("alerts", \.alerts), ("lock_screen", \.lockScreen), ("notification_center", \.notificationCenter),
            ("sounds", \.sounds), ("badges", \.badges), ("time_sensitive", \.timeSensitive),
            ("scheduled_summary", \.scheduledSummary),
        ]
        for (name, path) in places {
            let text: String? = given[name]
            settings[keyPath: path] = try text.map { try #require(.init(rawValue: $0)) }
        }
        return settings
    }
}
