import Foundation
import ProjectFolder
import TestSupport
import Testing

/// `make attack` runs all of it; this the quick part.
@Suite("Attacks with raw sockets")
struct AttackTests {
    private static let program = ProjectFolder.path + "/Tests/Whole/Attack/run"

    private static let names =
        (try? FileManager.default.contentsOfDirectory(atPath: program.dropLast(3) + "attacks"))?
        .filter { $0.hasSuffix(".py") }.map { String($0.dropLast(3)) }.sorted() ?? []

    @Test("each of them is held", arguments: names)
    func attack(name: String) throws {
        let ended = try ChildProcess.run(
            ["/usr/bin/python3", "-B", Self.program, "--quick", "--binary", Bellwether.path, name], within: 570)
        FaultLength.report(ended.output)
        #expect(ended.status == 0, "\(ended.output)\(ended.messages)")
    }

    @Test("there are some")
    func some() {
        #expect(Self.names.count > 3)
    }
}
