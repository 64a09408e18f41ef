import Foundation
import Postgres
import TestSupport
import Testing

@Suite("Experiments, as commands and over HTTP")
struct ExperimentsTests {
    private let shared: SharedService
    private let bellwether: Bellwether
    private let app: TestApp

    init() throws {
        shared = try SharedService.get()
        bellwether = try shared.bellwether
        app = try shared.makeApp()
    }

    private func put(_ body: String, key: String) throws -> RawClient.Answer {
        try shared.service.client().send(
            "PUT", "/v1/experiments",
            headers: ["Content-Type": "application/json", "Authorization": "Bearer \(key)"], body: Array(body.utf8))
    }

    @Test("are created, listed and ended, with a salt that stays")
    func commands() throws {
        let ended = try bellwether.run(
            "experiments", "create", "--app", app.slug, "spring sale", "--control", "12.5", "--starts",
            "2026-11-01T00:00:00Z",
            "--campaign", "spring", "--campaign", "sale", "--goal", "purchase")
        #expect(ended.status == 0, "\(ended)")
        #expect(
            ended.output.hasPrefix(
                "Experiment 'spring sale', version 1, running: 12.5 % control, from 2026-11-01T00:00:00.000000Z\nsalt: "
            ))
        #expect(ended.messages.contains("warning: it started in the past"))
        let salt = try #require(ended.output.split(separator: "\n").last?.dropFirst("salt: ".count))
        #expect(salt.count == 32)
        let listed = try bellwether.trusted("experiments", "list", "--app", app.slug).split(separator: "\n")
        #expect(listed.count == 2)
        #expect(
            listed.last.map { $0.split(separator: " ").joined(separator: " ") }
                == "spring sale running 12.5 % 2026-11-01T00:00:00.000000Z spring, sale purchase \(salt)")
        let over = try bellwether.trusted("experiments", "end", "--app", app.slug, "spring sale", "--format", "json")
        let object = try #require(JSONSerialization.jsonObject(with: Data(over.utf8)) as? [String: Any])
        #expect(object["state"] as? String == "ended" && object["salt"] as? String == String(salt))
        #expect(object["version"] as? Int == 2 && object["control"] as? Double == 12.5)

        let refused = try bellwether.run(
            "experiments", "create", "--app", app.slug, "spring sale", "--control", "12.5", "--starts",
            "2026-11-02T00:00:00Z")
        #expect(
            refused.status == 1 && refused.messages.contains("nothing was changed:\n  ends: the experiment ended at "))
        let none = try bellwether.run("experiments", "end", "--app", app.slug, "none")
        #expect(none.status == 1 && none.messages.contains("has no experiment 'none'"))
        for words in [
            ["create", "x", "--app", app.slug, "--control", "100", "--starts", "2026-11-01T00:00:00Z"],
            ["create", "x", "--app", app.slug, "--control", "10", "--starts", "tomorrow"],
            ["create", "x", "--app", app.slug, "--control", "10"], ["create", "--app", app.slug], ["list"],
            ["end", "x"],
        ] {
            #expect(try bellwether.start(["experiments"] + words).wait().status == 64, "\(words)")
        }
    }

    @Test("PUT registers with a server key, all or none, and says what each is now")
    func overHTTP() throws {
        let key = String(try bellwether.trusted("app", "key", "add", app.slug, "--server").dropLast())
        let body = #"{"experiments":[{"name":"a","control":10,"starts":"2026-11-01T00:00:00Z","goals":["purchase"]}]}"#
        func first(_ answer: RawClient.Answer) throws -> [String: Any] {
            let object = try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any]
            return try #require((object?["experiments"] as? [[String: Any]])?.first, "\(answer)")
        }
        let new = try put(body, key: key)
        #expect(new.status == 200)
        let registered = try first(new)
        #expect(registered["unchanged"] as? Bool == false && registered["state"] as? String == "running")
        let same = try first(put(body, key: key))
        #expect(same["unchanged"] as? Bool == true && same["salt"] as? String == registered["salt"] as? String)
        let wrong = try put(body.replacing(":10,", with: ":20,"), key: key)
        #expect(wrong.status == 422 && wrong.problem?.code == "invalid_experiments", "\(wrong)")
        #expect(wrong.body.contains("experiments[0].control"))
        #expect(try put(body, key: app.secret).problem?.code == "wrong_key_kind")
        #expect(try put("{", key: key).problem?.code == "not_json")
        let get = try shared.service.client().send("GET", "/v1/experiments", headers: [:], body: [])
        #expect(get.status == 405 && get["allow"] == "PUT", "\(get)")
    }
}
