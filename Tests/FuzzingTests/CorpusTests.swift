import Foundation
import Fuzzing
import Testing

/// What fuzzing has found worth trying, tried again each time.
@Suite("The fuzzer's corpus")
struct CorpusTests {
    /// A law, and how much there is at least to try it with.
    struct Law: Sendable, CustomTestStringConvertible {
        let name: String
        let least: Int
        let broken: @Sendable ([UInt8]) -> [String]

        var testDescription: String { name }

        func corpus() throws -> [[UInt8]] {
            let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("../Fuzzing/Corpus/\(name).base64")
            return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map { line in
                Array(try #require(Data(base64Encoded: String(line))))
            }
        }
    }

    @Test(
        "whatever the fuzzer made up is refused, or read as what can be stored, and breaks no law",
        arguments: [
            Law(name: "envelope", least: 1000) { EnvelopeLaw.broken(by: $0) },
            Law(name: "gunzip", least: 20) { GunzipLaw.broken(by: $0) },
            Law(name: "sends", least: 500) { SendsLaw.broken(by: $0) },
            Law(name: "categories", least: 400) { CategoriesLaw.broken(by: $0) },
            Law(name: "export", least: 5) { ExportLaw.broken(by: $0) },
        ])
    func holds(_ law: Law) throws {
        let inputs = try law.corpus()
        #expect(inputs.count >= law.least)
        for input in inputs {
            let broken = law.broken(input)
            #expect(broken.isEmpty, "\(broken) by \(Data(input).base64EncodedString())")
        }
    }
}
