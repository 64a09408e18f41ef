import Foundation
import ProjectFolder
import TestSupport
import Testing

@testable import BellwetherClient

/// The vectors of Examples/vectors are a promise to clients in other languages (Docs/OtherClients.md). This library is
/// held against them too, to each value of each.
@Suite("Test vectors for clients in other languages")
struct VectorTests {
    private static let root = ProjectFolder.path
    static let files = ["deliveries", "events", "ids", "retries", "sources", "times"]
    /// What senders do, and no client. The server is held against it (`ArmTests`).
    private static let others = ["arms"]

    struct Vector {
        let name: String
        let given: [String: Any]
        let expect: Any
    }

    static func vectors(_ file: String) throws -> [Vector] {
        let data = try Data(contentsOf: URL(fileURLWithPath: "\(root)/Examples/vectors/\(file).json"))
        let object = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
        let vectors = try #require(object["vectors"] as? [[String: Any]])
        return try vectors.map { vector in
            #expect(Set(vector.keys) == ["name", "given", "expect"])
            return Vector(
                name: try #require(vector["name"] as? String), given: try #require(vector["given"] as? [String: Any]),
                expect: try #require(vector["expect"]))
        }
    }

    /// What this library makes of what is given.
    static func outcome(_ file: String, _ given: Given) async throws -> Any {
        switch file {
        case "events": try EventVectors.outcome(given)
        case "ids": try PlainVectors.id(given)
        case "sources": try SourceVectors.outcome(given)
        case "times": try PlainVectors.time(given)
        case "retries": try PlainVectors.retry(given)
        default: try await DeliveryVectors.outcome(given)
        }
    }

    /// The value in one form: members sorted.
    static func text(_ value: Any) throws -> String {
        let data = try JSONSerialization.data(withJSONObject: ["value": value], options: [.sortedKeys, .prettyPrinted])
        return String(decoding: data, as: UTF8.self)
    }

    @Test("our library gives exactly what each vector expects, and reads all that is given", arguments: files)
    func passes(file: String) async throws {
        let vectors = try VectorTests.vectors(file)
        #expect(vectors.count >= 5)
        #expect(Set(vectors.map(\.name)).count == vectors.count)
        for vector in vectors {
            let given = Given(vector.given)
            let outcome = try VectorTests.text(try await VectorTests.outcome(file, given))
            #expect(try outcome == VectorTests.text(vector.expect), "\(vector.name): \(outcome)")
            #expect(given.unread == [], "\(vector.name)")
        }
    }

    @Test("a vector that is changed in any one value fails", arguments: files)
    func changes(file: String) async throws {
        for vector in try VectorTests.vectors(file) {
            let outcome = try VectorTests.text(try await VectorTests.outcome(file, Given(vector.given)))
            let changed = VectorTests.changed(vector.expect)
            #expect(!changed.isEmpty, "\(vector.name)")
            for value in changed { #expect(try VectorTests.text(value) != outcome, "\(vector.name)") }
        }
    }

    @Test("the guide names each file, and there is no other")
    func guide() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(VectorTests.root)/Examples/vectors")
        #expect(names.sorted() == (VectorTests.files + VectorTests.others).sorted().map { "\($0).json" })
        let guide = try String(contentsOfFile: "\(VectorTests.root)/Docs/OtherClients.md", encoding: .utf8)
        for name in names { #expect(guide.contains("[`\(name)`](../Examples/vectors/\(name))"), "\(name)") }
    }

    /// The value with one place of it changed, for each place.
    private static func changed(_ value: Any) -> [Any] {
        switch value {
        case let object as [String: Any]:
            return object.flatMap { key, value -> [Any] in changed(value).map { object.merging([key: $0]) { $1 } } }
                + [object.merging(["unexpected": 1]) { $1 }]
        case let list as [Any]:
            return list.indices.flatMap { index -> [Any] in
                changed(list[index]).map { new -> Any in
                    var list = list
                    list[index] = new
                    return list
                }
            } + [list + ["unexpected"]]
        case let text as String: return [text + "x"]
        default: return ["changed"]
        }
    }
}

/// What a vector gives, and what of it was read: a member that nobody reads would promise nothing.
final class Given {
    private let members: [String: Any]
    private var read: Set<String> = []
    private var inner: [Given] = []

    init(_ members: [String: Any]) { self.members = members }

    subscript<Value>(_ name: String, _: Value.Type = Value.self) -> Value? {
        read.insert(name)
        return members[name] as? Value
    }

    func object(_ name: String) -> Given? {
        guard let object = self[name, [String: Any].self] else { return nil }
        let given = Given(object)
        inner.append(given)
        return given
    }

    func list(_ name: String) -> [Given] {
        let list = (self[name, [[String: Any]].self] ?? []).map { Given($0) }
        inner += list
        return list
    }

    var unread: [String] { members.keys.filter { !read.contains($0) }.sorted() + inner.flatMap(\.unread) }
}
