import Foundation
import ServiceRuntime
import Telemetry
import Testing
import Values

@testable import BellwetherClient

@Suite("The sweep of the notification centre")
struct SweepTests {
    private let date = Date(timeIntervalSince1970: 1_795_000_000.123)

    private func delivered(_ phone: Phone, _ count: Int = 3) throws -> [BellwetherClient.Bellwether.Push] {
        try (0..<count).map { number in
            try phone.push(
                #"{"aps":{"alert":{"body":"x","summary-arg-count":2}},"gcm.message_id":"0:\#(number)%1"}"#,
                request: .init(identifier: "r-\(number)", deliveredAt: date + Double(number)))
        }
    }

    @Test("the same notification is the same event, by id and time, whichever process finds it and when")
    func derived() throws {
        let (app, later) = (Phone(), Phone())
        later.wait(86_400)
        app.bellwether.sweep(try delivered(app))
        later.bellwether.sweep(try delivered(later).reversed())
        #expect(app.drafts.count == 3)
        #expect(Set(app.drafts) == Set(later.drafts))
        let event = try #require(app.events().first)
        #expect(event.deviceAt == Timestamp(microseconds: 1_795_000_000_123_000))
        #expect(event.interaction == .received(Receipt(via: .deliveredList, summaryArgumentCount: 2)))
    }

    @Test("what was swept is not told again, neither in the process nor by the next, and the file may be anything")
    func swept() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("swept-\(Foundation.UUID())")
        defer { try? FileManager.default.removeItem(at: file) }
        let first = Phone(swept: file)
        first.bellwether.sweep(try delivered(first, 2))
        first.bellwether.sweep(try delivered(first, 3))
        #expect(first.drafts.count == 3)
        let second = Phone(swept: file)
        second.bellwether.sweep(try delivered(second, 4))
        #expect(second.drafts.count == 1)
        try Data([0xFF, 0, 1, 2]).write(to: file)
        let third = Phone(swept: file)
        third.bellwether.sweep(try delivered(third, 2))
        #expect(third.drafts.count == 2)
        #expect(Set(third.drafts).isSubset(of: first.drafts))
    }

    @Test("what could not be written down is told by a later sweep")
    func lost() throws {
        let phone = Phone()
        phone.bellwether.sweep(try delivered(phone, 1))
        phone.set(recorded: .lost)
        phone.bellwether.sweep(try delivered(phone, 3))
        phone.set(recorded: .kept)
        #expect(phone.drafts.count == 1)
        phone.bellwether.sweep(try delivered(phone, 3))
        #expect(phone.drafts.count == 3)
    }

    @Test("what waits in memory may never be written down: a later sweep tells it again, as the same event")
    func waiting() throws {
        let phone = Phone()
        phone.set(recorded: .waiting)
        phone.bellwether.sweep(try delivered(phone, 2))
        phone.set(recorded: .kept)
        phone.bellwether.sweep(try delivered(phone, 2))
        phone.bellwether.sweep(try delivered(phone, 2))
        #expect(phone.drafts.count == 4)
        #expect(Set(phone.drafts).count == 2)
    }

    @Test("a repeating local notification is another one each time it fires; without a date or a name it is none")
    func odd() throws {
        let phone = Phone()
        func local(_ identifier: String?, _ date: Date?) throws -> BellwetherClient.Bellwether.Push {
            try phone.push("{}", request: .init(identifier: identifier, origin: .local, deliveredAt: date))
        }
        phone.bellwether.sweep([
            try local("daily", date), try local("daily", date + 86_400), try local("daily", date),
            try local(nil, date), try local("daily", nil),
        ])
        #expect(try phone.events().map(\.notificationKey) == ["daily@1795000000", "daily@1795086400"])
        #expect(phone.reports.count(of: .unidentified) == 0)
    }
}
