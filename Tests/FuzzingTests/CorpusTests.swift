import Foundation
import Fuzzing
import Testing

/// What fuzzing has found worth trying, tried again each time.
@Suite("The fuzzer's corpus")
struct CorpusTests {
    private func corpus(_ law: String) throws -> [[UInt8]] {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../Fuzzing/Corpus/\(law).base64")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map { line in
            Array(try #require(Data(base64Encoded: String(line))))
        }
    }

    @Test("every body of the corpus is refused, or decoded to what can be stored")
    func envelopes() throws {
        let bodies = try corpus("envelope")
        #expect(bodies.count > 100)
        for body in bodies {
            let broken = EnvelopeLaw.broken(by: body)
            #expect(broken.isEmpty, "\(broken) by \(String(decoding: body, as: UTF8.self))")
        }
    }

    @Test("every packed body of the corpus is refused, or unpacked within its bound")
    func packed() throws {
        let bodies = try corpus("gunzip")
        #expect(bodies.count > 20)
        for body in bodies {
            let broken = GunzipLaw.broken(by: body)
            #expect(broken.isEmpty, "\(broken) by \(body)")
        }
    }

    @Test(
        "all that was told of sends in the corpus is refused, or decoded to what can be stored, alone and in an envelope"
    )
    func sends() throws {
        let bodies = try corpus("sends")
        #expect(bodies.count > 100)
        for body in bodies {
            let broken = SendsLaw.broken(by: body)
            #expect(broken.isEmpty, "\(broken) by \(String(decoding: body, as: UTF8.self))")
        }
    }

    @Test("every document of categories in the corpus is refused, or the same when it is told again")
    func categories() throws {
        let documents = try corpus("categories")
        #expect(documents.count > 100)
        for document in documents {
            let broken = CategoriesLaw.broken(by: document)
            #expect(broken.isEmpty, "\(broken) by \(String(decoding: document, as: UTF8.self))")
        }
    }
}
