import Foundation
import TestSupport
import Testing

/// A descriptor that is free is given to whatever is opened next, such as the connection to the database.
@Suite("Standard streams that are closed")
struct ClosedStreamTests {
    private func bellwether(_ closed: String, _ shared: SharedService) throws -> Bellwether {
        var bellwether = try shared.bellwether
        bellwether.runner = ["sh", "-c", "exec \"$@\" \(closed)", "sh"]
        return bellwether
    }

    @Test("output that has nowhere to go is a failure that says so")
    func output() throws {
        let shared = try SharedService.get()
        let app = try shared.makeApp()
        let bellwether = try bellwether(">&-", shared)
        for words in [
            ["report", "--app", app.slug], ["erase", "--app", app.slug, "--install", Wire.id()], ["app", "list"],
        ] {
            let ended = try bellwether.start(words).wait()
            #expect(ended.status == 1, "\(words)")
            #expect(
                ended.messages == "bellwether: could not write the output: Bad file descriptor\n",
                "\(words) \(ended.messages)")
        }
    }

    @Test("input that is not there is a usage error")
    func input() throws {
        #expect(try bellwether("<&-", SharedService.get()).run("status", "--database", "-").status == 64)
    }

    @Test("a service that cannot log works, and its log goes nowhere else")
    func messages() throws {
        let shared = try SharedService.get()
        let app = try shared.makeApp()
        let files = TemporaryDirectory()
        let service = try bellwether("<&- >&- 2>&-", shared).start(["serve", "--listen", files("socket")])
        let client = HTTPClient(path: files("socket"))
        #expect(eventually { (try? client.get("/readyz").status) == 200 })
        for descriptor in 0...2 {
            let file = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(service.id)/fd/\(descriptor)")
            #expect(file == "/dev/null")
        }
        #expect(try client.post(Wire.envelope(Wire.event()), key: app.secret).results.accepted == 1)
        service.signal(SIGTERM)
        #expect(try service.wait().status == 0)
    }
}
