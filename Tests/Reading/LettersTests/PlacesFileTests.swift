import Reports
import Testing

@testable import Letters

@Suite("The file of places")
struct PlacesFileTests {
    private func read(_ text: String) throws -> Places { try PlacesFile.read(Array(text.utf8)) }

    @Test("says who gets what and when")
    func places() throws {
        let places = try read(
            """
            { "from": "bellwether@example.com", "sendmail": "/usr/bin/msmtp",
              "places": [
                { "name": "growth", "mail": ["ana@example.com", "b.o+c@shop.example"], "apps": ["shop"], "when": ["fell", "rose"] },
                { "name": "chat", "slack": {"file": "/etc/bellwether/slack"}, "when": "always" },
                { "name": "managers", "teams": {"environment": "TEAMS_URL"}, "when": ["alarms"] },
                { "name": "own.program_1-a", "json": "http://127.0.0.1:8000/hook", "key": {"file": "/key"} },
                { "name": "inside", "json": "http://hook.intern/", "key": {"file": "/key"}, "allow_http": true } ] }
            """)
        #expect(places.from == "bellwether@example.com" && places.sendmail == "/usr/bin/msmtp")
        #expect(places.all.map(\.name) == ["growth", "chat", "managers", "own.program_1-a", "inside"])
        #expect(places.all[0].apps == ["shop"] && places.all[0].news == [.fell, .rose])
        #expect(places.all[1].apps == nil && places.all[1].news == nil && places.all[2].news == [.alarm])
        guard case .mail(let addresses) = places.all[0].kind,
            case .slack(.file("/etc/bellwether/slack")) = places.all[1].kind,
            case .json(.plain(let url), key: .file("/key")) = places.all[3].kind
        else {
            Issue.record("\(places)")
            return
        }
        #expect(addresses == ["ana@example.com", "b.o+c@shop.example"] && url == "http://127.0.0.1:8000/hook")
    }

    private static let mail = "\"from\": \"a@b\",\n \"places\": ["

    @Test(
        "each fault is named with its line",
        arguments: [
            ("", 1, "this is no JSON: there is nothing"),
            ("{\n\n\"places\": [}", 3, "this is no JSON: a value is expected here"),
            ("[]", 1, "the file must be an object, not an array"),
            ("{}", 1, "places is missing: who gets the reports?"),
            ("{\"places\": []}", 1, "places must be a list of one to 100"),
            ("{\n\"place\": []}", 2, "the file has no member 'place'; it may have from, sendmail, places"),
            ("{\"places\": [\n{\"mail\": [\"a@b\"]}]}", 2, "places[0].name is missing"),
            ("{\"places\": [\n{\"name\": \"Ä\", \n\"mail\": [\"a@b\"]}]}", 2, "places[0].name must be of a to z"),
            ("{\"places\": [{\"name\": \"x\", \"mail\": [\"a@b\"]}]}", 1, "'x' gets mail: say from whom"),
            (
                "{\(mail)\n{\"name\": \"x\",\n\"mail\": [\"a@b\",\n\"Ana <a@b>\"]}]}", 5,
                "places[0].mail[1] must be a mail address"
            ),
            ("{\(mail)\n{\"name\": \"x\", \"mail\": [\"-oQ/tmp@b\"]}]}", 3, "places[0].mail[0] must be a mail address"),
            (
                "{\(mail)\n{\"name\": \"x\", \"mail\": [\"a@b\\nBcc: c@d\"]}]}", 3,
                "places[0].mail[0] must be a mail address"
            ),
            (
                "{\(mail)\n{\"name\": \"x\", \"mail\": [\"a@b\"], \"slack\": {\"file\": \"/x\"}}]}", 3,
                "places[0] must have exactly one of"
            ),
            (
                "{\"places\": [{\"name\": \"x\", \"slack\":\n\"https://hooks.slack.com/T/B/X\"}]}", 2,
                "places[0].slack is a secret, and must not"
            ),
            (
                "{\"places\": [{\"name\": \"x\", \"slack\": {\"file\":\n\"relative\"}}]}", 2,
                "the file of a secret must be a path from /"
            ),
            (
                "{\"places\": [{\"name\": \"x\", \"slack\": {\"environment\":\n\"A=B\"}}]}", 2,
                "places[0].slack.environment must be the name"
            ),
            (
                "{\"places\": [{\"name\": \"x\", \"json\": \"https://x.example/\"}]}", 1,
                "places[0].key is missing: what json gets is signed"
            ),
            (
                "{\"places\": [{\"name\": \"x\", \"json\":\n \"http://x.example/\", \"key\": {\"file\": \"/k\"}}]}", 2,
                "places[0].json must begin with https://"
            ),
            (
                "{\"places\": [{\"name\": \"x\", \"json\":\n \"https://u:p@x.example/\", \"key\": {\"file\": \"/k\"}}]}",
                2, "places[0].json must be a URL without a user"
            ),
            (
                "{\"places\": [{\"name\": \"x\", \"slack\": {\"file\": \"/x\"},\n\"when\": [\"fallen\"]}]}", 2,
                "places[0].when must be \"always\" or a list of"
            ),
            (
                "{\"places\": [{\"name\": \"x\", \"slack\": {\"file\": \"/x\"}},\n{\"name\": \"x\", \"slack\": {\"file\": \"/x\"}}]}",
                2, "the name 'x' is given twice"
            ),
            ("{\"places\": [{\"name\": \"x\",\n\"name\": \"y\"}]}", 2, "'name' is given twice in places[0]"),
            ("{\"places\": [[[[[[[[[[\n1]]]]]]]]]]}", 1, "this is no value that can stand here"),
        ])
    func faults(text: String, line: Int, reason: String) throws {
        let fault = try #require(throws: PlacesFile.Fault.self) { try read(text) }
        #expect(fault.line == line && fault.reason.hasPrefix(reason), "\(fault)")
    }

    @Test(
        "plain http does not leave this machine",
        arguments: [
            ("https://x.example/a?b#c", "x.example"), ("HTTPS://x.example:8443", "x.example"),
            ("http://localhost:1/", "localhost"),
            ("http://127.8.9.10", "127.8.9.10"), ("http://[::1]:80/", "[::1]"), ("http://127.0.0.1.evil.example/", nil),
            ("http://127.0.0.1@evil.example/", nil), ("http://127.0.0.1\\@evil.example/", nil),
            ("http://localhost.evil.example", nil),
            ("ftp://x.example", nil), ("https://", nil), ("https://[]", nil), ("https://x.example/ä", nil),
            ("https://x.example/\n", nil),
            ("file:///etc/passwd", nil),
        ])
    func addresses(text: String, host: String?) {
        #expect((try? WebAddress(text))?.host == host)
    }
}
