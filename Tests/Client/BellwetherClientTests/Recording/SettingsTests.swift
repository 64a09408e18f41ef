import Foundation
import TestSupport
import Testing

@testable import BellwetherClient

@Suite("What notifications may do")
struct SettingsTests {
    private typealias Bellwether = BellwetherClient.Bellwether

    private let scratch = TemporaryDirectory()
    private var file: URL { URL(fileURLWithPath: scratch("permission")) }

    private func settings(alerts: Bellwether.Settings.Setting) -> Bellwether.Settings {
        var settings = Bellwether.Settings()
        (settings.alerts, settings.lockScreen, settings.scheduledSummary) = (alerts, .on, .unsupported)
        return settings
    }

    @Test("a change is one event about the install, with all settings as they are now; the first look is none")
    func changed() throws {
        let phone = Phone(permission: file)
        phone.bellwether.learn(Permission(authorization: .authorized, settings: settings(alerts: .on)))
        phone.bellwether.learn(Permission(authorization: .authorized, settings: settings(alerts: .on)))
        #expect(phone.drafts.isEmpty)
        phone.bellwether.learn(Permission(authorization: .denied, settings: settings(alerts: .off)))
        #expect(phone.drafts.map(\.type) == [.permissionChanged, .settingsChanged])
        let object = try JSONSerialization.jsonObject(with: Data(try #require(phone.drafts.last).json(seq: 1)))
        // The source says it, which each event is recorded with.
        #expect((object as? [String: Any])?["settings"] == nil)
        #expect(phone.bellwether.source.withLock { $0 }.settings == settings(alerts: .off))
    }

    @Test("a change that could not be written down comes later, once, with the same id and time")
    func lost() throws {
        let phone = Phone(permission: file)
        phone.bellwether.learn(Permission(authorization: .authorized, settings: settings(alerts: .on)))
        phone.set(recorded: .lost)
        phone.bellwether.learn(Permission(authorization: .denied, settings: settings(alerts: .off)))
        let pending = try #require(PermissionMemory(file: file).read()?.pending)
        #expect(pending.count == 2)
        let later = Phone(permission: file)
        later.wait(86_400)
        for _ in 0..<2 { later.bellwether.learn(Permission(authorization: .denied, settings: settings(alerts: .off))) }
        #expect(later.drafts.map { "\($0.id)" } == pending.map(\.id))
        #expect(later.drafts.map(\.at.milliseconds) == pending.map(\.at))
    }

    @Test("the system's numbers have their names; others are not known")
    func numbers() {
        #expect(
            (-1...3).map { Bellwether.Settings.Setting(setting: $0)?.rawValue } == [
                nil, "unsupported", "off", "on", nil,
            ])
    }

    @Test("Firebase's installation id is read from the newest payload, and what the app says goes before it")
    func firebase() throws {
        let phone = Phone()
        func fid() -> String? {
            let source = phone.bellwether.source.withLock { $0 }
            return source.description.fields.first { $0.name == "fid" }?.value.text
        }
        _ = try phone.push(#"{"gcm.message_id":"1","google.c.fid":"first"}"#)
        _ = try phone.push(#"{"gcm.message_id":"2","google.c.fid":"second"}"#)
        _ = try phone.push(#"{"aps":{"alert":"x"}}"#)
        #expect(fid() == "second")
        phone.bellwether.firebaseInstallationID = "own"
        #expect(fid() == "own")
    }
}
