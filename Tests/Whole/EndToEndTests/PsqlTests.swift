import TestSupport
import Testing

@Suite("psql as the analyst")
struct PsqlTests {
    private let shared: SharedService

    init() throws { shared = try SharedService.get() }

    @Test(
        "null is · in a table, as the guides show it, and empty where a program reads",
        arguments: [
            ([], " a | ·"), (["-x"], "b | ·"), (["-q", "-v", "A=1"], " a | ·"), (["-P", "pager=off"], " a | ·"),
            (["-FA"], " a | ·"), (["-P", "null=none"], " a | none"), (["-At"], "a|"), (["-XAt"], "a|"),
            (["--csv"], "a,"), (["--no-align", "--tuples-only"], "a|"), (["-qAF", ";"], "a;"), (["-t"], " a | "),
        ] as [([String], String)])
    func null(words: [String], line: String) throws {
        let query = ["-c", "SELECT 'a' AS a, null::text AS b"]
        let ended = try shared.bellwether.start(["psql", "--"] + words + query).wait()
        #expect(ended.status == 0 && ended.output.split(separator: "\n").contains { $0 == line }, "\(ended)")
    }
}
