import Foundation
import Migrations
import Postgres
import ProjectFolder
import TestSupport
import Testing

/// What a release has made: `make release` keeps it in Tests/Whole/Released.
struct Release: Sendable, CustomTestStringConvertible {
    let version: String
    var testDescription: String { version }

    private static let folder = ProjectFolder.url.appendingPathComponent("Tests/Whole/Released")
    static let factsScript = folder.path + "/facts.sql"

    static let all: [Release] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.first?.isNumber == true }.sorted().map(Release.init(version:))
    }()

    func path(_ file: String) -> String { "\(Self.folder.path)/\(version)/\(file)" }

    func text(of file: String) throws -> String { try String(contentsOfFile: path(file), encoding: .utf8) }
}

@Suite("What was released")
struct ReleasedFaultTests {
    @Test("the migrations of a release are frozen: none is edited, renamed or taken out", arguments: Release.all)
    func frozen(_ release: Release) throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        let steps = Migrations.steps
        let hashes = try database.column(
            "SELECT encode(sha256(convert_to(text, 'UTF8')), 'hex') FROM unnest(\(steps.map(\.sql))) AS text",
            of: String.self)
        let present = zip(hashes, steps).map { "\($0) \($1.name)" }
        let released = try release.text(of: "migrations").split(separator: "\n").map(String.init)
        #expect(!released.isEmpty)
        // What is new comes after what was released.
        #expect(present.prefix(released.count) == released[...], "add a new step instead")
    }

    @Test(
        "its database is brought to this version with events coming in, whatever is killed: all numbers are what they were",
        arguments: Release.all)
    func upgraded(_ release: Release) throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        let url = try database.url()
        let restored = try ChildProcess.run(
            [
                "bash", "-euo", "pipefail", "-c", "xz -dc \"$1\" | psql -XqAt -v ON_ERROR_STOP=1 \"$2\"", "restore",
                release.path("database.sql.xz"), url,
            ], within: 300)
        try #require(restored.status == 0, "\(restored)")
        let bellwether = try Bellwether(database)

        // The service is there before the migration is, and a migration that is killed changes nothing.
        let service = try bellwether.serve(waitsUntilReady: false)
        for time in [1, 3] {
            _ = try bellwether.dying(at: "migrated", time: time).run("migrate")
        }
        let migrated = try bellwether.run("migrate", within: 600)
        try #require(migrated.status == 0, "\(migrated)")
        try service.waitUntilReady()
        let facts = try ChildProcess.run(["psql", "-XAt", url, "-f", Release.factsScript])
        #expect(facts.output == (try release.text(of: "facts")), "\(facts.messages)")
        _ = try bellwether.trusted("verify")

        let others = Set(try database.column("SELECT event_id::text FROM log.event", of: String.self))
        let key = String(try bellwether.trusted("app", "create", "since").dropLast())
        let load = Load(on: service, key: key)
        #expect(load.isServed(50))
        try Laws.check(load, url: url, others: others, by: bellwether)
        #expect(try service.stop() == 0)
    }
}
