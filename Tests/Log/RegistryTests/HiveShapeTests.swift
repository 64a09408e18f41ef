import Testing

@testable import Registry

@Suite("A document of Hive's shape")
struct HiveShapeTests {
    @Test(
        "is read: shared actions, what Hive's own buttons answer, its content extension; an action in no category is warned of"
    )
    func whole() throws {
        let document = try CategoryDocument(
            Array(
                #"""
                {"actions": {"GO": {"en": "Go", "ko": "가기"}, "CLOSE_ID": {"ko": "닫기", "en": "Close"}, "SPARE": {"en": "Spare"}},
                 "categories": {"RAID": ["GO", "CLOSE_ID"], "SALE": ["CLOSE_ID"]}}
                """#.utf8))
        let close = Button(id: "CLOSE_ID", titles: [.init("ko", "닫기"), .init("en", "Close")], answer: .close)
        #expect(document.set == .hive)
        #expect(
            document.categories == [
                Category(
                    id: "RAID", buttons: [Button(id: "GO", titles: [.init("en", "Go"), .init("ko", "가기")]), close],
                    contentExtension: true, path: "categories.RAID"),
                Category(id: "SALE", buttons: [close], contentExtension: true, path: "categories.SALE"),
            ])
        #expect(document.warnings.map(\.description) == ["actions.SPARE: is in no category"])
    }

    private static let actions = #""actions": {"A": {"en": "A"}, "B": {"en": "B"}, "C": {"en": "C"}, "D": {"en": "D"}}"#

    @Test(
        "is refused with the path and what is wrong there",
        arguments: [
            (#"{"actions": {}}"#, "categories: is required: the actions of each category, by its id"),
            (#"{"categories": {}}"#, "actions: is required: the titles of each action, by its id"),
            (#"{"actions": [], "categories": {}}"#, "actions: must be an object, not an array"),
            (
                #"{"actions": {"A": {"en": "x"}, "A": {"en": "y"}}, "categories": {"X": ["A"]}}"#,
                "actions.A: is given twice"
            ),
            (#"{\#(actions), "categories": {"X": ["A"], "X": ["B"]}}"#, "categories.X: is given twice"),
            (
                #"{\#(actions), "categories": {"X": ["A", "B", "C", "D"]}}"#,
                "categories.X: has 4 elements, at most 3 are allowed"
            ),
            (#"{\#(actions), "categories": {"X": ["A", "A"]}}"#, #"categories.X[1]: "A" is given twice"#),
            (#"{\#(actions), "categories": {"X": ["Z"]}}"#, #"categories.X[0]: 'actions' has no action "Z""#),
            (#"{\#(actions), "categories": {"X": "A"}}"#, "categories.X: must be an array, not a string"),
            (#"{\#(actions), "categories": {"X": [1]}}"#, "categories.X[0]: must be a string, not a number"),
            (
                #"{\#(actions), "categories": {"it's": ["A"]}}"#,
                #"categories["it's"]: must not contain a quote or backslash"#
            ),
            (
                #"{"actions": {"A": {"ko": "x"}}, "categories": {"X": ["A"]}}"#,
                "actions.A.en: is required: Hive falls back to English"
            ),
            (#"{"actions": {"A": "x"}, "categories": {"X": ["A"]}}"#, "actions.A: must be an object, not a string"),
            (
                #"{\#(actions), "categories": {}, "x": 1}"#,
                "x: unknown member; the members here are actions, categories"
            ),
        ])
    func refused(_ text: String, _ error: String) {
        #expect(errors(text) == [error])
    }

    @Test("takes sixteen languages and no more")
    func languages() {
        func document(_ count: Int) -> String {
            let titles = ["en"] + (1..<count).map { "x" + String(UnicodeScalar(UInt8(96 + $0))) }
            let members = titles.map { #""\#($0)": "x""# }.joined(separator: ",")
            return #"{"actions": {"A": {\#(members)}}, "categories": {"X": ["A"]}}"#
        }
        #expect(errors(document(16)) == [])
        #expect(errors(document(17)) == ["actions.A: has 17 members, at most 16 are allowed"])
    }
}
