import Foundation
import Sends
import Simulation
import Telemetry
import Testing
import Values

@Suite("What simulated senders tell")
struct SenderTests {
    private func read(_ app: Fortnight) throws -> [Send] {
        let body = Array("{\"sends\":[\(app.sends.map(\.text).joined(separator: ","))]}".utf8)
        return try SendsDecoder().decode(envelope: body).map { try $0.get() }
    }

    @Test("sends are valid, each by an id of its own, in the order of time", arguments: [Fortnight.news, .shop])
    func valid(app: Fortnight) throws {
        let sends = try read(app)
        #expect(sends.count > 50)
        #expect(Set(sends.map(\.id)).count == sends.count)
        #expect(app.sends.map(\.time) == app.sends.map(\.time).sorted())
        #expect(sends.map(\.sentAt) == app.sends.map { Timestamp(microseconds: $0.time.microseconds / 1000 * 1000) })
    }

    @Test(
        "no campaign is delivered to more than were sent it, but for one sender that tells of a part; one tells nothing",
        arguments: [Fortnight.news, .shop])
    func recipients(app: Fortnight) throws {
        var sent: [String: Int64] = [:]
        for send in try read(app) {
            sent["\(send.campaign ?? "") \(send.variant ?? "")", default: 0] += try #require(send.recipients)
        }
        var delivered: [String: Int64] = [:]
        for events in app.deliveries() {
            let notification = events[0].notification
            guard notification.origin != .local else { continue }
            delivered["\(notification.campaign ?? "") \(notification.variant ?? "")", default: 0] += 1
        }
        let untold = Set(delivered.keys).subtracting(sent.keys)
        let over = Set(sent.keys.filter { delivered[$0, default: 0] > sent[$0, default: 0] })
        if app.deliveries("ORDER_UPDATE").isEmpty {
            #expect(untold.isEmpty && over.isEmpty)
        } else {
            #expect(untold == ["chat "] && over == ["order-update "])
        }
        #expect(sent.keys.contains { $0.hasSuffix(" a") } && sent.keys.contains { $0.hasSuffix(" b") })
    }

    @Test("a story's payload has the pages that are shown, and those that are not", arguments: [Fortnight.news, .shop])
    func stories(app: Fortnight) throws {
        let stories = try read(app).filter { $0.story != nil }
        #expect(stories.count >= 4)
        for send in stories {
            #expect(send.category == "PW_STORIES")
            let pages = send.story?.pages ?? []
            let shown = pages.filter { $0.pageIndex != nil }
            #expect(shown.allSatisfy { $0.fault == nil && $0.milliseconds == 5_000 && $0.title?.isEmpty == false })
            #expect(pages.filter { $0.pageIndex == nil }.map(\.fault) == (pages.count > shown.count ? [.noImage] : []))
            var furthest = 0
            for event in app.events where event.notification.campaign == send.campaign {
                if case .pageShown(let page) = event.interaction { furthest = max(furthest, Int(page.pageIndex)) }
            }
            #expect(furthest == shown.count - 1)
        }
    }

    @Test(
        "the registered buttons are those that are tapped, as they are tapped, but for a forgotten one",
        arguments: [(Fortnight.news, AppProfile.news, Set<String>()), (.shop, .shop, ["MUTE"])]
            as [(Fortnight, AppProfile, Set<String>)])
    func categories(app: Fortnight, profile: AppProfile, forgotten: Set<String>) throws {
        struct Document: Decodable {
            struct Category: Decodable {
                struct Action: Decodable {
                    let id: String
                    let titles: [String: String]
                    let activation: String
                    let destructive: Bool
                    let authentication_required: Bool
                    let text_input: Bool
                    let answer: String
                }
                let id: String
                let actions: [Action]
                let custom_dismiss: Bool
                let content_extension: Bool
            }
            let categories: [Category]
        }
        let document = try JSONDecoder().decode(Document.self, from: Data(profile.categoryDocument.utf8))
        #expect(Set(document.categories.map(\.id)).count == document.categories.count)
        var seen: Set<String> = []
        for event in app.events {
            guard case .actionTapped(let tap) = event.interaction, !tap.actionID.isEmpty else { continue }
            let category = try #require(document.categories.first { $0.id == event.notification.category })
            guard let action = category.actions.first(where: { $0.id == tap.actionID }) else {
                seen.insert(tap.actionID)
                continue
            }
            #expect(tap.activation?.wire == action.activation && tap.destructive == action.destructive)
            #expect(tap.authenticationRequired == action.authentication_required && tap.textInput == action.text_input)
            #expect(tap.actionIndex.map { category.actions[Int($0)].id } == action.id)
        }
        #expect(seen == forgotten)
        for category in document.categories {
            #expect(category.actions.allSatisfy { $0.titles.count == 2 && $0.titles["en"]?.isEmpty == false })
            let types = Set(app.events.filter { $0.notification.category == category.id }.map(\.type))
            #expect(types.contains(.notificationDismissed) == category.custom_dismiss, "\(category.id)")
            if types.contains(.notificationExpanded) { #expect(category.content_extension, "\(category.id)") }
        }
    }
}
