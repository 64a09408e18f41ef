import Foundation
import TestSupport
import Testing

@Suite("What runs in production, and what shows it")
struct ExecutableTests {
    private func libraries(of path: String) throws -> String {
        let ended = try ChildProcess.run(["ldd", path])
        #expect(ended.status == 0, "\(ended.messages)")
        return ended.output
    }

    @Test("bellwether loads no HTTP client; bellwether-demo and bellwether-deliver do")
    func libraries() throws {
        let production = try libraries(of: Bellwether.path)
        #expect(production.contains("libpq.so") && !production.contains("libcurl"), "\(production)")
        for name in ["-demo", "-deliver"] {
            #expect(try libraries(of: Bellwether.path + name).contains("libcurl"))
        }
    }

    @Test("alone, bellwether explains demo and simulate, and says what they need to run")
    func alone() throws {
        let scratch = TemporaryDirectory()
        var bellwether = Bellwether(database: nil)
        bellwether.binary = scratch("bellwether")
        #expect(try ChildProcess.run(["cp", Bellwether.path, bellwether.binary]).status == 0)
        #expect(try bellwether.trusted("--help") == Bellwether(database: nil).trusted("--help"))
        for words in [["demo"], ["simulate", "--url", "http://127.0.0.1:1", "--write-key", "geheim"]] {
            let ended = try bellwether.start(words).wait()
            #expect(ended.status == 1 && ended.output.isEmpty)
            #expect(
                ended.messages
                    == "bellwether: \(words[0]) is done by another executable, which must stand at \(scratch("bellwether-demo")): "
                    + "'make build' makes it beside bellwether, and 'make install' installs both\n")
            #expect(try bellwether.trusted(words[0], "--help").contains("Use: bellwether \(words[0])"))
            #expect(try bellwether.run(words[0], "--frob").status == 64)
        }
    }

    @Test("the other one is found by way of a link to the first")
    func linked() throws {
        let scratch = TemporaryDirectory()
        try FileManager.default.createSymbolicLink(atPath: scratch("linked"), withDestinationPath: Bellwether.path)
        var bellwether = Bellwether(database: nil)
        bellwether.binary = scratch("linked")
        let ended = try bellwether.run("simulate", "--url", "http://127.0.0.1:1", "--write-key", "geheim")
        #expect(ended.status == 1 && ended.messages.contains("is the server running at http://127.0.0.1:1"))
    }
}
