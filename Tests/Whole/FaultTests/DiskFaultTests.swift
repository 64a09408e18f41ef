import Foundation
import Postgres
import ServiceRuntime
import TestSupport
import Testing

@Suite("The database's disk is full", .enabled(if: SmallDisk.isAllowed, "mounting is not allowed here"))
struct DiskFaultTests {
    @Test("the whole of it, log of changes and all: clients are turned away until there is room, and nothing is lost")
    func everything() throws {
        let disk = try #require(SmallDisk(kilobytes: 400_000))
        let bellwether = Bellwether(data: disk.path("data"))
        let key = String(try bellwether.trusted("app", "create", "shop").dropLast())
        let service = try bellwether.serve()
        let load = Load(on: service, key: key)
        for _ in 0..<2 {
            #expect(load.isServed())
            let refused = load.refusals
            let isFull = eventually {
                disk.fill()
                // A new file of the log of changes is needed sooner.
                if let url = bellwether.superuserURL, var connection = try? Connection(url: url) {
                    _ = try? connection.query("SELECT pg_switch_wal()")
                }
                return load.refusals > refused + 20
            }
            #expect(isFull)
            #expect(try service.client().get("/healthz").status == 200)
            disk.free()
            #expect(load.isServed(), "\(service.log.suffix(3000))")
        }
        try service.waitUntilReady()
        try Laws.check(load, url: try #require(bellwether.url))
        #expect(try service.stop() == 0)
    }

    @Test("that of the write-ahead log alone: the same, and the operator is told of the disk at every turn")
    func writeAheadLog() throws {
        let shop = try EmbeddedShop()
        let data = try #require(shop.bellwether.data) + "/pg/data"
        let disk = try #require(SmallDisk(kilobytes: 160_000))
        for words in [["mv", data + "/pg_wal", disk.path("wal")], ["ln", "-s", disk.path("wal"), data + "/pg_wal"]] {
            #expect(try ChildProcess.run(words).status == 0)
        }
        let service = try shop.bellwether.serve()
        let load = Load(on: service, key: shop.key)
        #expect(load.isServed())
        let refused = load.refusals
        let isFull = eventually {
            disk.fill()
            if let url = shop.bellwether.superuserURL, var connection = try? Connection(url: url) {
                _ = try? connection.query("SELECT pg_switch_wal()")
            }
            return load.refusals > refused + 20
        }
        #expect(isFull)
        // It tries to start its server again, and says why it cannot.
        #expect(eventually { service.log.contains("No space left on device") }, "\(service.log.suffix(3000))")
        #expect(try service.client().get("/healthz").status == 200)
        #expect(try service.client().get("/readyz").status == 503)
        // So does whoever tries now.
        let doctor = try shop.bellwether.run("doctor")
        #expect(doctor.status == 69 && doctor.messages.contains("No space left on device"), "\(doctor)")
        disk.free()
        #expect(load.isServed(), "\(service.log.suffix(3000))")
        try service.waitUntilReady()
        try Laws.check(load, url: try #require(shop.bellwether.url))
        #expect(try service.stop() == 0)
    }

    @Test("that of the tables alone: clients are turned away until there is room, and nothing is lost")
    func tables() throws {
        let server = try DatabaseServer()
        let disk = try #require(SmallDisk(kilobytes: 100_000))
        let place = disk.path("tables")
        mkdir(place, 0o700)
        var owner = stat()
        #expect(stat(server.directory, &owner) == 0)
        chown(place, owner.st_uid, owner.st_gid)
        var administrator = try server.administrator(of: "postgres")
        try administrator.execute(script: "CREATE TABLESPACE small LOCATION '\(place)'")
        try administrator.execute(script: "ALTER DATABASE \(DatabaseServer.database) SET TABLESPACE small")

        let bellwether = Bellwether(database: server.url)
        let key = String(try bellwether.trusted("app", "create", "shop").dropLast())
        let service = try bellwether.serve()
        let load = Load(on: service, key: key)
        #expect(load.isServed())
        disk.fill()
        #expect(load.isRefused(20))
        #expect(service.log.contains("53100"), "it says that the disk is full")
        disk.free()
        #expect(load.isServed())
        try Laws.check(load, url: server.url)
        #expect(try service.stop() == 0)
    }
}
