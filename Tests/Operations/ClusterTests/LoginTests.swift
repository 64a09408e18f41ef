import Clusters
import EmbeddedPostgres
import Foundation
import Postgres
import ServiceRuntime
import TestSupport
import Testing

@Suite("The services' logins in a new cell")
struct LoginTests {
    private static let login = "bellwether_ingest_service"

    private func make(_ cluster: EmbeddedServer) throws -> String {
        var administrator = try Connection(url: cluster.connectionURL(database: "postgres"))
        try administrator.execute(script: "CREATE ROLE \(TestPostgres.owner) LOGIN CREATEROLE")
        try administrator.execute(script: "CREATE DATABASE shop OWNER \(TestPostgres.owner)")
        return cluster.connectionURL(database: "shop", user: TestPostgres.owner)
    }

    private func run(_ script: String, in cluster: EmbeddedServer) throws {
        var owner = try Connection(url: cluster.connectionURL(database: "shop", user: TestPostgres.owner))
        try owner.execute(script: script)
    }

    @Test("a cell that the services cannot log in to gets no shards, and everybody who could say so does")
    func missing() throws {
        let old = try TestPostgres.separate(logins: [Self.login])
        defer { TestPostgres.remove(old) }
        // Its pg_hba.conf does not let the login in.
        let new = try TestPostgres.separate()
        defer { TestPostgres.remove(new) }
        let bellwether = Bellwether(database: try make(old))
        _ = try bellwether.trusted("migrate")
        try run("CREATE ROLE \(Self.login) LOGIN; GRANT bellwether_ingest TO \(Self.login)", in: old)
        _ = try bellwether.trusted("cluster", "create", "--name", "cell-1")
        _ = try bellwether.trusted("cluster", "add", try make(new), "--name", "cell-2")
        func move() throws -> ChildProcess.Ended {
            try bellwether.run("cluster", "move", "--shard", "0", "--to", "cell-2")
        }
        // No process runs: the login itself is not there.
        let absent = try move()
        #expect(
            absent.status == 1
                && absent.messages.contains("has no login '\(Self.login)' with the role bellwether_ingest"),
            "\(absent)")
        // It is there, and a process cannot use it.
        try run("CREATE ROLE \(Self.login) LOGIN; GRANT bellwether_ingest TO \(Self.login)", in: new)
        let url = old.connectionURL(database: "shop", user: Self.login)
            .replacing("\(Self.login)@", with: "\(Self.login):secret@")
        let service = try Bellwether(database: url).serve("--only", "ingest", "--node", "front")
        defer { _ = try? service.stop() }
        #expect(service.log.contains("opens its own cell alone"), "\(service.log)")
        #expect(
            try eventually {
                try bellwether.run("cluster", "status").output.contains("FAIL    cell-2: front cannot work in it")
            })
        let status = try bellwether.run("cluster", "status")
        #expect(status.status == 1 && status.output.contains("as \(Self.login): "), "\(status)")
        let ready = try service.client().get("/readyz")
        #expect(ready.status == 200 && ready.body.contains("ready\ncell cell-2: "), "\(ready)")
        let doctor = try bellwether.run("doctor")
        #expect(doctor.output.contains(/FAIL  cluster +cell 'cell-2' front cannot work in it/), "\(doctor)")
        #expect(service.log.contains(#""cell":"cell-2""#), "\(service.log)")
        let refused = try move()
        #expect(
            refused.status == 1 && refused.messages.contains("the process 'front' cannot work in cell 'cell-2'"),
            "\(refused)")
    }
}
