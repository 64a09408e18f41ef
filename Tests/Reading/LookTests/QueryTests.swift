import Postgres
import ServiceRuntime
import TestSupport
import Testing
import Values

@testable import Look

@Suite("Questions as people read them") struct QueryTests {
    @Test("a question is bound where it runs, and has its values in it where people read it")
    func both() {
        let (name, day): (String, CivilDate) = ("it's", CivilDate(daysSince1970: 20_000))
        let part: Query = "day = \(day)"
        let query: Query = "SELECT \(name) WHERE \(part) AND app = \(name)"
        #expect(query.statement.sql == "SELECT $1 WHERE day = $2 AND app = $3")
        #expect(query.statement.parameters.count == 3)
        #expect(query.shown == "SELECT 'it''s' WHERE day = date '2024-10-04' AND app = 'it''s'")
    }

    @Test(
        "psql reads every text that it is shown as the text that was meant, and what is shown has nothing unseen in it")
    func literals() throws {
        let shop = try LookedAt.get()
        let texts = HostileNames.all + ["\\", "'\u{301}", "\u{e0041}tags", "😀", #"U&'\0041'"#, ":'x' :\"y\" :z"]
        let script = texts.map { "SELECT encode(convert_to(\(Query.literal($0)), 'UTF8'), 'hex');" }.joined(
            separator: "\n")
        let ran = try ChildProcess.run(
            ["psql", "-XAtq", try shop.database.url(as: TestPostgres.analyst)], environment: [:], input: script)
        #expect(ran.status == 0 && ran.messages.isEmpty, "\(ran.messages)")
        let read = ran.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        for (text, hex) in zip(texts, read) {
            #expect(text.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() == hex)
            #expect(String(printable: Query.literal(text)) == Query.literal(text))
        }
        #expect(read.count == texts.count + 1)
    }
}
