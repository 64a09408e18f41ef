import Foundation
import TestSupport
import Testing

@Suite("The data directory cannot be written to")
struct ReadOnlyFaultTests {
    @Test(
        "from the start: every command says so and ends with 69",
        .enabled(if: SmallDisk.isAllowed, "mounting is not allowed here"))
    func start() throws {
        let disk = try #require(SmallDisk(kilobytes: 400_000))
        let bellwether = Bellwether(data: disk.path("data"))
        let fresh = Bellwether(data: disk.path("fresh"))
        _ = try bellwether.trusted("app", "create", "shop")
        try disk.forbidWriting()
        for words in [["serve", "--listen", "127.0.0.1:0"], ["status"], ["doctor"], ["database", "stop"]] {
            let ended = try bellwether.start(words).wait()
            if words[0] == "database" {
                // There is nothing to stop.
                #expect(ended.status == 0, "\(ended)")
                continue
            }
            #expect(ended.status == 69 && ended.messages.contains("Read-only file system"), "\(words) \(ended)")
            #expect(ended.messages.contains(disk.path("data")), "\(words) \(ended)")
        }
        let made = try fresh.run("status")
        #expect(made.status == 69 && made.messages.contains("Read-only file system"), "\(made)")
    }

    @Test("from one moment on, under load: clients are turned away until it can be, and nothing is lost")
    func suddenly() throws {
        let shop = try EmbeddedShop()
        let data = try #require(shop.bellwether.data) + "/pg/data"
        let service = try shop.bellwether.serve()
        let load = Load(on: service, key: shop.key)
        #expect(load.isServed())
        func setMode(_ mode: String) throws {
            let ended = try ChildProcess.run(["find", data, "-type", "d", "-exec", "chmod", mode, "{}", "+"])
            #expect(ended.status == 0, "\(ended)")
        }
        try setMode("0500")
        let refused = load.refusals
        let isClosed = eventually {
            if let url = shop.bellwether.superuserURL {
                // What is open can still be written; a new file of the write-ahead log cannot be made.
                _ = try? ChildProcess.run(["psql", url, "-Xc", "SELECT pg_switch_wal()"])
            }
            return load.refusals > refused + 20
        }
        #expect(isClosed)
        #expect(try service.client().get("/healthz").status == 200)
        #expect(eventually { service.log.contains("Permission denied") }, "\(service.log.suffix(3000))")
        try setMode("0700")
        #expect(load.isServed(), "\(service.log.suffix(3000))")
        try service.waitUntilReady()
        try Laws.check(load, url: try #require(shop.bellwether.url))
        #expect(try service.stop() == 0)
    }
}
