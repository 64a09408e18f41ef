import CatalogueSupport
import Envelopes
import Telemetry
import Testing
import Values

@testable import Simulation

@Suite("What phones write")
struct WireTests {
    @Test(
        "every member of the catalogue can be written, and says the same when it is read again",
        arguments: Member.allCases)
    func roundTrip(member: Member) throws {
        for type in member.types {
            for sample in member.samples where sample.isRead && member != .type {
                let read = try event(CatalogueSupport.EventText(type.wire).with(sample).text)
                let written = Simulation.EventText(
                    id: read.id, at: read.deviceAt, seq: read.seq, notification: read.notification,
                    interaction: read.interaction, writesMilliseconds: false)
                let again = try event(written.text(), source: read.source.text)
                #expect(inMilliseconds(again.values) == inMilliseconds(read.values), "\(sample)")
                #expect(again.extra == nil)
            }
        }
    }

    private func event(
        _ text: String, source: String = #"{"install_id":"8f2f6f0e-6a0c-4d3a-9a52-0d6c2f6f7a11"}"#
    ) throws -> Event {
        let received = Timestamp(microseconds: 1_795_167_013_000_000)
        let body = Array("{\"source\":\(source),\"events\":[\(text)]}".utf8)
        let item = try #require(try EnvelopeDecoder().decode(body: body, receivedAt: received).items.first)
        guard case .event(let event) = item else {
            Issue.record("\(text): \(item)")
            throw CancellationError()
        }
        return event
    }

    /// Phones know no more of a time.
    private func inMilliseconds(_ values: [String: Sample.Value]) -> [String: Sample.Value] {
        values.mapValues { value in
            if case .time(let time) = value { .time(Timestamp(microseconds: time.milliseconds * 1000)) } else { value }
        }
    }
}
