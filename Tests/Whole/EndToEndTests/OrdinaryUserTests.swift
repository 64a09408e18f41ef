import Foundation
import TestSupport
import Testing

private let asNobody = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "env", "-C", "/"]

@Suite("As an ordinary user", .enabled(if: getuid() == 0, "the tests run as one already"))
struct OrdinaryUserTests {
    @Test("an app, a service, an event and the end, in a data directory of one's own")
    func walk() throws {
        let scratch = TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: scratch("home"), withIntermediateDirectories: false)
        chmod(scratch("home"), 0o777)
        var bellwether = Bellwether(data: scratch("home/data"))
        bellwether.runner = asNobody
        bellwether.binary = scratch("bellwether")
        // By another program: were it open for writing here, whatever a test beside starts at that moment would hold it
        // open too, and it could not be run.
        #expect(try ChildProcess.run(["cp", Bellwether.path, bellwether.binary]).status == 0)
        let key = String(try bellwether.trusted("app", "create", "shop").dropLast())
        let service = try bellwether.serve()
        let server = try #require(bellwether.postmaster)
        for process in [service.process.id, server] {
            let owner = try FileManager.default.attributesOfItem(atPath: "/proc/\(process)")[.ownerAccountName]
            #expect(owner as? String == "nobody")
        }
        #expect(try service.client().post(Wire.envelope(Wire.event()), key: key).results.accepted == 1)
        #expect(try bellwether.trusted("psql", "--", "-XAtc", "SELECT count(*) FROM opens") == "1\n")
        #expect(try service.stop() == 0)
        #expect(eventually { !ProcessTable.isAlive(server) })
    }
}
