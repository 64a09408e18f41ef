import BellwetherVersion
import Foundation
import ProjectFolder
import TestSupport
import Testing

@Suite("One version")
struct VersionTests {
    @Test("the program, /healthz, the description, the changelog and the guide say the same one")
    func same() throws {
        let version = BellwetherVersion.number
        #expect(version.wholeMatch(of: /[0-9]+\.[0-9]+\.[0-9]+/) != nil)
        #expect(try ChildProcess.run([Bellwether.path, "--version"]).output == "bellwether \(version)\n")

        let shared = try SharedService.get()
        let client = shared.service.client()
        #expect(try client.get("/healthz").body == "ok \(version)\n")
        let description = try client.get("/openapi.yaml").body
        #expect(
            description.contains("\n  version: \(version)\n")
                && description.contains("sdk: bellwether-swift/\(version)\n"))
        #expect(description.contains(#"example: "ok \#(version)\n""#))

        // The release that stands is the newest, but for what is not released yet.
        let releases = try ProjectFolder.text(of: "CHANGELOG.md").matches(of: /(?m)^## ([0-9.]+)$/)
        #expect(releases.first.map { String($0.1) } == version)
        #expect(try ProjectFolder.text(of: "Docs/Client.md").contains("from: \"\(version)\""))
    }
}
