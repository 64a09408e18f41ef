import Foundation
import ProjectFolder
import TestSupport
import Testing

@Suite("A test that hangs")
struct HangingTests {
    @Test("is ended by the runner of all tests, and named")
    func named() throws {
        let scratch = TemporaryDirectory()
        let tests = scratch("Tests")
        try FileManager.default.createDirectory(atPath: tests, withIntermediateDirectories: true)
        // The runner works in the folder above its own, so this is a copy of it. Its tests are two lines and a wait.
        try ProjectFolder.text(of: "Tests/run").write(toFile: tests + "/run", atomically: false, encoding: .utf8)
        let programs = [
            "swift": "echo '\(scratch.path)'",
            "bellwetherPackageTests.xctest": """
            echo '◇ Test quick() started.'
            echo '✔ Test quick() passed after 0.001 seconds.'
            echo '◇ Test hangs() started.'
            exec sleep 3600
            """,
        ]
        for (name, script) in programs {
            try "#!/bin/sh\n\(script)\n".write(toFile: scratch(name), atomically: false, encoding: .utf8)
            chmod(scratch(name), 0o755)
        }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let ended = try ChildProcess.run(
            ["bash", tests + "/run", "--apart", "Waiting", "Anything"],
            environment: ["PATH": "\(scratch.path):\(path)", "BELLWETHER_TEST_PATIENCE": "1"], within: 300)
        #expect(ended.status == 1, "\(ended)")
        #expect(ended.output.contains("It ended before these tests did:\n  Test hangs()\n"), "\(ended)")
        #expect(!ended.output.contains("  Test quick()") && ended.output.contains("No test began or ended for 1 s"))
    }
}
