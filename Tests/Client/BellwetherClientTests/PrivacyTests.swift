import Foundation
import ProjectFolder
import TestSupport
import Testing

@testable import BellwetherClient

@Suite("What the library leaves on a device whose owner wants nothing of it, and what it declares")
struct PrivacyTests {
    private let scratch = QueueDirectory()

    private func client(isRecording: Bool) throws -> BellwetherClient.Bellwether {
        let server = try #require(URL(string: "https://bellwether.example.com"))
        var configuration = BellwetherClient.Bellwether.Configuration(
            server: server, writeKey: "key", directory: scratch.url)
        configuration.isRecording = isRecording
        configuration.deliversByItself = true
        // Nobody waits: what begins by itself begins at once.
        let clock = DeviceClock(
            wall: { Date() }, uptime: { ProcessInfo.processInfo.systemUptime }, sleep: { _ in await Task.yield() })
        return BellwetherClient.Bellwether(
            configuration, transport: ScriptedTransport { _, _ in .well }, clock: clock)
    }

    private let root = ProjectFolder.url

    private func readManifest() throws -> [String: Any] {
        let file = root.appendingPathComponent("Sources/Client/BellwetherClient/PrivacyInfo.xcprivacy")
        let list = try PropertyListSerialization.propertyList(from: Data(contentsOf: file), format: nil)
        return try #require(list as? [String: Any])
    }

    private var isThere: Bool { FileManager.default.fileExists(atPath: scratch.url.path) }

    @Test("switched off from the start nothing is made on disk, whatever is called; switched on, there is")
    func nothingOnDisk() async throws {
        let client = try client(isRecording: false)
        let push = client.push([:], request: .init(identifier: "r", deliveredAt: Date()))
        client.contentExtension(showed: push)
        client.sweep([push])
        client.responded(to: push, action: "LIKE")
        #expect(await client.flush(within: 120) == .delivered)
        #expect(!eventually(within: 0.3) { isThere })
        client.isRecording = true
        client.contentExtension(showed: push)
        #expect(isThere)
        #expect(await client.flush(within: 120) == .delivered)
    }

    @Test("the manifest in the library's bundle declares no tracking, and a reason for each thing that needs one")
    func manifest() throws {
        let manifest = try readManifest()
        #expect(manifest["NSPrivacyTracking"] as? Bool == false)
        let apis = try #require(manifest["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
        let reasons = Dictionary(
            uniqueKeysWithValues: apis.compactMap { api -> (String, [String])? in
                guard let name = api["NSPrivacyAccessedAPIType"] as? String else { return nil }
                return (name, api["NSPrivacyAccessedAPITypeReasons"] as? [String] ?? [])
            })
        // What Apple asks reasons for, by the names that code of this library could use.
        let needs: [(api: String, category: String)] = [
            ("fstat(", "NSPrivacyAccessedAPICategoryFileTimestamp"),
            ("systemUptime", "NSPrivacyAccessedAPICategorySystemBootTime"),
            ("statfs(", "NSPrivacyAccessedAPICategoryDiskSpace"),
            ("UserDefaults", "NSPrivacyAccessedAPICategoryUserDefaults"),
            ("activeInputModes", "NSPrivacyAccessedAPICategoryActiveKeyboards"),
        ]
        let sources = root.appendingPathComponent("Sources/Client/BellwetherClient")
        let files = try #require(FileManager.default.enumerator(atPath: sources.path)?.allObjects as? [String])
        let code = try files.filter { $0.hasSuffix(".swift") }.map {
            try String(contentsOf: sources.appendingPathComponent($0), encoding: .utf8)
        }.joined()
        let guide = try String(contentsOf: root.appendingPathComponent("Docs/Client.md"), encoding: .utf8)
        for need in needs {
            #expect(code.contains(need.api) == (reasons[need.category]?.isEmpty == false), "\(need.api)")
            for reason in reasons[need.category] ?? [] { #expect(guide.contains("| `\(need.category)` | `\(reason)`")) }
        }
    }

    @Test("the privacy label of the guide says what the manifest declares, row by row")
    func label() throws {
        let manifest = try readManifest()
        let types = try #require(manifest["NSPrivacyCollectedDataTypes"] as? [[String: Any]])
        // As App Store Connect calls them.
        let names = [
            "NSPrivacyCollectedDataTypeProductInteraction": "Usage Data ▸ Product Interaction",
            "NSPrivacyCollectedDataTypeDeviceID": "Identifiers ▸ Device ID",
        ]
        let declared = try types.map { type in
            let name = try #require(names[type["NSPrivacyCollectedDataType"] as? String ?? ""])
            let purposes = try #require(type["NSPrivacyCollectedDataTypePurposes"] as? [String]).map {
                $0.replacing("NSPrivacyCollectedDataTypePurpose", with: "")
            }
            let answers = ["Linked", "Tracking"].map { type["NSPrivacyCollectedDataType\($0)"] as? Bool }
            let words = answers.map { $0 == false ? "no" : "yes" }
            return "| \(([name, purposes.joined(separator: ", ")] + words).joined(separator: " | ")) |"
        }
        let guide = try String(contentsOf: root.appendingPathComponent("Docs/Client.md"), encoding: .utf8)
        let section = try #require(guide.components(separatedBy: "\n## The privacy label\n").dropFirst().first)
        let rows = section.components(separatedBy: "\n## ")[0].components(separatedBy: "\n").filter {
            $0.hasPrefix("| ")
        }
        #expect(Array(rows.dropFirst(2)) == declared)
    }
}
