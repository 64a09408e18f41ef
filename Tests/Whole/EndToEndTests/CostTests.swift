import Foundation
import ProjectFolder
import TestSupport
import Testing

/// Figures that do not depend on how busy the machine is: allocations, round trips, statements, bytes. `make cost`
/// measures the release build, and its instructions too.
@Suite("What things cost")
struct CostTests {
    private static let benchmarks = ProjectFolder.path + "/Benchmarks"

    /// How the program beside the tests is built: each build has a budget.
    private static let build = ((Bellwether.path as NSString).deletingLastPathComponent as NSString).lastPathComponent

    private func cost(_ words: String...) throws -> ChildProcess.Ended {
        try ChildProcess.run(
            ["/usr/bin/python3", "-B", Self.benchmarks + "/cost", "--build", Self.build] + words, within: 900)
    }

    @Test("nothing costs more than its budget")
    func budget() throws {
        let ended = try cost("--quick", "--binary", Bellwether.path)
        #expect(ended.status == 0, "\(ended.output)\(ended.messages)")
    }

    @Test("what costs more is named with what has grown, and what costs less is named too; nothing else is")
    func verdicts() throws {
        let path = Self.benchmarks + "/budget.json"
        var budget = try #require(
            try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: path))) as? [String: Any])
        var build = try #require(budget[Self.build] as? [String: Any])
        var figures = try #require(build["figures"] as? [String: [String: Any]])
        let fits = try cost("--figures", path)
        #expect(fits.status == 0 && !fits.output.contains("its budget"))

        // A budget of before a statement was added, and of before an index shrank.
        var statements = try #require(figures["statements a step"])
        var parts = try #require(statements["parts"] as? [String: Double])
        let (added, cost) = try #require(parts.max { ($0.value, $0.key) < ($1.value, $1.key) })
        let now = try #require(statements["cost"] as? Double)
        parts[added] = nil
        (statements["parts"], statements["cost"]) = (parts, now - cost)
        figures["statements a step"] = statements
        let indexes = try #require(figures["indexes an event"]?["cost"] as? Double)
        figures["indexes an event"]?["cost"] = indexes * 1.05
        let files = TemporaryDirectory()
        build["figures"] = figures
        budget[Self.build] = build
        try JSONSerialization.data(withJSONObject: budget).write(to: URL(fileURLWithPath: files("budget.json")))

        let ended = try self.cost("--figures", path, "--budget", files("budget.json"))
        let told = ended.output.components(separatedBy: "\n").filter { $0.contains(" its budget") }
        #expect(ended.status == 1, "\(ended.output)\(ended.messages)")
        #expect(told.count == 2)
        #expect(told.first?.hasPrefix("statements a step is over its budget: ") == true)
        #expect(told.first?.contains("Most likely because of \(added) (hardly anything before, ") == true)
        #expect(told.last?.hasPrefix("indexes an event is under its budget, well done: ") == true)
    }
}
