import ProjectFolder
import TestSupport
import Testing

@testable import Ingestion

/// What people deploy with is written by hand; here it is held against the program.
@Suite("What people deploy with") struct DeploymentTests {
    @Test("the compose file is pinned, confined, watched and explained, and calls commands that exist")
    func compose() throws { try holds(.compose) }

    @Test("the image runs without root, on pinned bases, with the libraries that the program is built with")
    func image() throws { try holds(.image) }

    @Test("the alerts are about metrics that the service has")
    func alerts() throws { try holds(.alerts) }

    @Test(
        "the workflow for the client library is well-formed and pinned, and builds and tests every platform of the package"
    )
    func workflow() throws { try holds(.workflow) }

    @Test("the proxies let every door of the API through, and none that tells of the inside")
    func proxies() throws {
        let doors = Route.all.map(\.path.text)
        let nginx = try ProjectFolder.text(of: "Examples/proxies/nginx.conf")
        let places = nginx.matches(of: /location (= )?(\S+) \{\s+proxy_pass/).map { ($0.output.2, $0.output.1 != nil) }
        let caddy = try ProjectFolder.text(of: "Examples/proxies/Caddyfile")
        let patterns = try #require(caddy.firstMatch(of: /@open path (.+)/)).output.1.split(separator: " ")
        for door in doors {
            let isOutside = door.hasPrefix("/v1/") || door == "/openapi.yaml"
            #expect(places.contains { $1 ? door == $0 : door.hasPrefix($0) } == isOutside, "nginx: \(door)")
            let isThrough = patterns.contains { $0.hasSuffix("*") ? door.hasPrefix($0.dropLast()) : door == $0 }
            #expect(isThrough == isOutside, "Caddy: \(door)")
        }
    }

    @Test("a password is changed in one way, which keeps it out of the server's log, whichever text is read")
    func passwords() throws {
        for file in ["Examples/compose.env", "Docs/Operations.md", "Docs/Security.md"] {
            let text = try ProjectFolder.text(of: file)
            #expect(text.contains("psql's") && text.contains(#"\password"#), "\(file)")
            #expect(!text.contains("later by ALTER ROLE"), "\(file)")
        }
    }

    private func holds(_ subject: DeploymentCheck.Subject) throws {
        let check = try DeploymentCheck.run(subject, metrics: try metrics())
        #expect(check.status == 0, "\(check.output)")
    }

    private func metrics() throws -> [String: String] {
        try Metrics(SharedService.get().service.client().get("/metrics").body).kinds
    }

    @Test("a mistake in a file to deploy with is found", arguments: DeploymentMistake.all)
    func mistakesAreFound(_ mistake: DeploymentMistake) throws {
        var text = try ProjectFolder.text(of: mistake.file)
        let place = try #require(text.firstRange(of: mistake.right), "\(mistake.file) has no \(mistake.right)")
        text.replaceSubrange(place, with: mistake.wrong)
        let check = try DeploymentCheck.run(mistake.subject, files: [mistake.file: text], metrics: try metrics())
        #expect(check.status == 1 && check.output.contains(mistake.complaint), "\(check.output)")
    }
}
