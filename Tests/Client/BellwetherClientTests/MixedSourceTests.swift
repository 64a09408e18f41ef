import CatalogueSupport
import Envelopes
import Foundation
import Telemetry
import Testing
import Values

@testable import BellwetherClient

@Suite("Events of an app and its extension share envelopes")
struct MixedSourceTests {
    private let scratch = QueueDirectory(inMemory: true)
    private static let install = "8f2f6f0e-6a0c-4d3a-9a52-0d6c2f6f7a11"

    private func source(_ members: [String: String]) -> String {
        let all = members.merging(["install_id": MixedSourceTests.install, "platform": "ios"]) { $1 }
        let texts = all.sorted { $0.key < $1.key }.map { "\"\($0)\":\"\($1)\"" }
        return "{\(texts.joined(separator: ","))}"
    }

    private func record(_ queue: Queue, _ source: String) throws {
        try queue.append(source) { seq in
            """
            {"id":"0199f1c2-7c1e-7d0a-b1c4-\(String(format: "%012d", seq))","type":"notification.dismissed",\
            "at":"2026-11-20T09:30:10.001Z","seq":\(seq),"notification":{"id":"r-\(seq)"}}
            """
        }
    }

    @Test("however their sources differ, they go in one envelope, and the service reads of each the source it had")
    func alternating() throws {
        let sources = [
            source(["app_version": "4.2.0", "sdk": "a", "authorization": "authorized"]),
            source(["app_version": "4.1.9", "sdk": "a"]), source(["sdk": "b", "app_version": "4.2.0"]),
        ]
        let queue = Queue(directory: scratch.url)
        for number in 0..<30 { try record(queue, sources[number % 3]) }
        let batch = try #require(try queue.next(events: 1000, bytes: 512 << 10))
        #expect(batch.events.count == 30 && batch.sources.count == 3)
        let envelope = Envelope(batch, sentAt: Moment(milliseconds: 1_795_167_010_001))
        let decoded = try EnvelopeDecoder().decode(
            body: envelope.bytes, receivedAt: Timestamp(microseconds: 1_795_167_011_000_000))
        let read = decoded.items.map { item -> [String?] in
            guard case .event(let event) = item else { return [] }
            let source = event.source
            return [
                "\(source.installID)".lowercased(), source.appVersion, source.sdk, source.authorization?.wire,
                event.seq.map { "\($0)" },
            ]
        }
        let told: [[String?]] = [["4.2.0", "a", "authorized"], ["4.1.9", "a", nil], ["4.2.0", "b", nil]]
        let expected = (0..<30).map { number -> [String?] in
            let seq: String? = "\(number + 1)"
            return [MixedSourceTests.install] + told[number % 3] + [seq]
        }
        #expect(read == expected)
    }

    @Test("an envelope with sources of events stays within its bytes")
    func bytes() throws {
        let queue = Queue(directory: scratch.url)
        let sources = (0..<3).map { source(["app_version": String(repeating: "\($0)", count: 100)]) }
        for number in 0..<300 { try record(queue, sources[number % 3]) }
        var seqs: [Int64] = []
        while let batch = try queue.next(events: 1000, bytes: 10_000) {
            let bytes = Envelope(batch, sentAt: Moment(milliseconds: 0)).bytes
            let frame = #"{"sent_at":"2000-01-01T00:00:00.000Z","source":,"events":[]}"#.utf8.count
            #expect(bytes.count <= 10_000 + frame)
            #expect(bytes.count > 9_000 || batch.last == 300)
            seqs += batch.events.map(\.seq)
            try queue.settle(batch)
        }
        #expect(seqs == Array(1...300))
    }

    @Test("of one source nothing changes, whatever it is; what is no object is not mixed with others")
    func foreign() throws {
        let queue = Queue(directory: scratch.url)
        let sources = [source([:]), #"{"n":1}"#, "[]", source([:]), "{}", source([:])]
        for source in sources { for _ in 0..<2 { try record(queue, source) } }
        try queue.append(source([:])) { _ in "no object" }
        try queue.append(source(["sdk": "x"])) { _ in "{}" }
        var batches: [(Int, Int)] = []
        while let batch = try queue.next(events: 1000, bytes: 512 << 10) {
            batches.append((batch.events.count, batch.sources.count))
            if batch.sources.count == 1 {
                let bytes = Envelope(batch, sentAt: Moment(milliseconds: 0)).bytes
                let text = String(decoding: bytes, as: UTF8.self)
                #expect(text.contains(#""source":\#(String(decoding: batch.sources[0], as: UTF8.self)),"events""#))
            }
            try queue.settle(batch)
        }
        #expect(batches.map(\.0) == [4, 2, 6, 1, 1])
        #expect(batches.map(\.1) == [2, 1, 2, 1, 1])
    }
}
