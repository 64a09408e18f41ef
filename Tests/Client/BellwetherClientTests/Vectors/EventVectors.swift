import Foundation
import Testing

@testable import BellwetherClient

/// A notification and what somebody does with it, as a vector says it, and the events that the library makes of it.
enum EventVectors {
    private typealias Library = BellwetherClient.Bellwether

    static func outcome(_ given: Given) throws -> Any {
        let phone = Phone(keys: keys(given.object("keys")), recordsSummaryArgument: true)
        let at: Int = try #require(given["clock"])
        phone.set(clock: Date(timeIntervalSince1970: Double(at) / 1000))
        let payload = try #require(given["payload", [String: Any].self])
        let push = phone.bellwether.push(payload, request: try request(given.object("request")))
        for step in given.list("did") { try act(step, on: push, phone) }
        return try events(of: phone)
    }

    /// What was recorded, as vectors expect it.
    static func events(of phone: Phone) throws -> [[String: Any]] {
        try phone.drafts.map { draft in
            let json = try JSONSerialization.jsonObject(with: Data(draft.json(seq: 1)))
            var event = try #require(json as? [String: Any])
            event["seq"] = nil
            let id = try #require(event["id"] as? String)
            if id.dropFirst(14).first == "7" {
                let digits = id.replacing("-", with: "").prefix(12)
                #expect(UInt64(digits, radix: 16) == UInt64(draft.at.milliseconds))
                event["id"] = "new"
            }
            return event
        }
    }

    private static func keys(_ given: Given?) -> Library.PayloadKeys {
        var keys = Library.PayloadKeys()
        let places: [(String, WritableKeyPath<Library.PayloadKeys, [String]>)] = [
            ("campaign", \.campaign), ("variant", \.variant), ("analytics_label", \.analyticsLabel),
            ("topic", \.topic), ("delivery_id", \.deliveryID), ("sent_at", \.sentAt), ("media", \.media),
        ]
        for (name, path) in places { keys[keyPath: path] = given?[name] ?? [] }
        return keys
    }

    private static func request(_ given: Given?) throws -> Library.Request {
        let deliveredAt: Int? = given?["delivered_at"]
        let origin: String? = given?["origin"]
        var request = Library.Request(
            identifier: given?["identifier"], category: given?["category"], thread: given?["thread"],
            origin: try origin.map { try #require(.init(rawValue: $0)) },
            deliveredAt: deliveredAt.map { Date(timeIntervalSince1970: Double($0) / 1000) },
            showsText: given?["shows_text"])
        request.interruptionLevel = given?["interruption_level"]
        request.relevanceScore = given?["relevance_score"]
        return request
    }

    private static func act(_ step: Given, on push: Library.Push, _ phone: Phone) throws {
        let library = phone.bellwether
        if let seconds: Int = step["wait"] { return phone.wait(Double(seconds)) }
        switch try #require(step["do", String.self]) {
        case "foreground":
            let names: [String] = step["presentation"] ?? []
            let options = try names.map { try #require(Library.Presentation(rawValue: $0)) }
            library.received(push, .foreground(presentation: Set(options)))
        case "background":
            let result: String = try #require(step["result"])
            let fetched: Library.FetchResult = try #require(.init(rawValue: result))
            library.received(push, .background(fetched))
        case "service_extension":
            library.received(push, .serviceExtension(media: try step.object("media").map { try media($0) }))
        case "sweep": library.sweep([push])
        case "expand": library.contentExtension(showed: push)
        case "respond":
            let buttons = step.list("buttons").map { button in
                Library.Button(
                    id: button["id"] ?? "", opensApp: button["opens_app"] ?? false,
                    isDestructive: button["destructive"] ?? false,
                    requiresAuthentication: button["authentication_required"] ?? false,
                    asksForText: button["text_input"] ?? false)
            }
            if let category = push.category { library.register([Library.Category(id: category, buttons: buttons)]) }
            let (handler, launch): (String?, String?) = (step["handled_in"], step["launch"])
            library.responded(
                to: push, action: try #require(step["action"]),
                handledBy: try handler.map { try #require(.init(rawValue: $0)) } ?? .app,
                launch: try launch.map { try #require(.init(rawValue: $0)) })
        case "reach":
            let (value, names): (String?, Bool?) = (step["value"], step["notification"])
            library.reached(
                try #require(step["goal"]),
                value: try value.map { try #require(Decimal(string: $0, locale: Locale(identifier: "en_US_POSIX"))) },
                currency: step["currency"], from: names == true ? push : nil)
        case "story": try play(step.list("story"), library.story(of: push, loops: step["loops"]), phone)
        case let other: Issue.record("nobody can \(other)")
        }
    }

    private static func media(_ given: Given) throws -> Library.Media {
        let outcome: String = try #require(given["outcome"])
        let (kind, reason, network): (String?, String?, String?) = (given["kind"], given["reason"], given["network"])
        return Library.Media(
            try #require(.init(rawValue: outcome)), kind: try kind.map { try #require(.init(rawValue: $0)) },
            format: given["format"], reason: try reason.map { try #require(.init(rawValue: $0)) },
            bytes: given["bytes"], milliseconds: given["ms"],
            network: try network.map { try #require(.init(rawValue: $0)) })
    }

    private static func play(_ steps: [Given], _ story: Library.Story, _ phone: Phone) throws {
        for step in steps {
            if let seconds: Int = step["wait"] { phone.wait(Double(seconds)) }
            if let count: Int = step["started"] { story.started(pageCount: count) }
            if let index: Int = step["shown"] { story.pageShown(at: index) }
            if let index: Int = step["tapped"] {
                story.actionTapped(at: index, link: step["link", String.self].flatMap { URL(string: $0) })
            }
            if step["finished"] == true { story.finished() }
            if step["fallback"] == true { story.fallbackShown() }
        }
    }
}
