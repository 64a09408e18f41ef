import ClientFuzzing
import Envelopes
import Foundation
import Fuzzing
import ProjectFolder
import Sends
import Testing

/// What fuzzing has found worth trying, tried again each time.
@Suite("The fuzzer's corpus")
struct CorpusTests {
    /// A law, and how much there is at least to try it with: nine tenths of what there was.
    struct Law: Sendable, CustomTestStringConvertible {
        let name: String
        let least: Int
        /// The check of one input after another. As in a server, all go through the same decoder.
        let start: @Sendable () -> ([UInt8]) -> [String]

        var testDescription: String { name }

        func corpus() throws -> [[UInt8]] {
            try ProjectFolder.text(of: "Tests/Whole/Fuzzing/Corpus/\(name).base64").split(separator: "\n").map { line in
                Array(try #require(Data(base64Encoded: String(line))))
            }
        }
    }

    @Test(
        "whatever the fuzzer made up is refused, or read as what can be stored, and breaks no law",
        arguments: [
            Law(name: "envelope", least: 1647) {
                let decoder = EnvelopeDecoder()
                return { EnvelopeLaw.broken(by: $0, in: decoder) }
            },
            Law(name: "cloudevents", least: 430) {
                let decoder = EnvelopeDecoder()
                return { EnvelopeLaw.broken(by: $0, asCloudEvents: true, in: decoder) }
            },
            Law(name: "gunzip", least: 27) { { GunzipLaw.broken(by: $0) } },
            Law(name: "sends", least: 1386) {
                let decoder = SendsDecoder()
                return { SendsLaw.broken(by: $0, in: decoder) }
            },
            Law(name: "categories", least: 1008) { { CategoriesLaw.broken(by: $0) } },
            Law(name: "export", least: 570) { { ExportLaw.broken(by: $0) } },
            Law(name: "state", least: 600) { { StateLaw.broken(by: $0) } },
            Law(name: "history", least: 206) { { HistoryLaw.broken(by: $0) } },
            Law(name: "answer", least: 213) { { AnswerLaw.broken(by: $0) } },
            Law(name: "payload", least: 374) {
                let decoder = EnvelopeDecoder()
                return { PayloadLaw.broken(by: $0, in: decoder) }
            },
            Law(name: "queue", least: 255) { { QueueLaw.broken(by: $0) } },
        ])
    func holds(_ law: Law) throws {
        let inputs = try law.corpus()
        #expect(inputs.count >= law.least)
        let broken = law.start()
        for input in inputs {
            let broken = broken(input)
            #expect(broken.isEmpty, "\(broken) by \(Data(input).base64EncodedString())")
        }
    }
}
