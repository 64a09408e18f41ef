import Foundation
import Postgres
import ServiceRuntime
import TestSupport
import Testing

/// Texts that somebody might obey, in every place that takes one, by the way they go: HTTP, psql, reports, commands,
/// logs.
@Suite("Hostile texts on their way through") struct HostileTextTests {
    private let at = Timestamps()

    /// Two days ago, so that the day is over and no clock is corrected.
    private struct Timestamps {
        let moment: String
        let day: String

        init() {
            moment = ISO8601DateFormatter().string(from: Date(timeIntervalSinceNow: -48 * 3600))
            day = String(moment.prefix(10))
        }
    }

    // MARK: What is posted

    private static let sourceMembers = [
        "platform", "os_version", "app_version", "sdk", "device_model", "locale", "time_zone", "fid",
    ]
    private static let notificationMembers = [
        "fcm_message_id", "delivery_id", "category", "thread", "campaign", "variant", "analytics_label", "topic",
        "apns_id",
        "collapse_id", "interruption_level",
    ]

    /// One delivery, each of whose events has the text in every member that takes one, unknown ones and their names
    /// too.
    private func events(_ text: String) throws -> [String] {
        let literal = try HostileText.json(text)
        func members(_ names: [String]) -> String { names.map { "\"\($0)\":\(literal)" }.joined(separator: ",") }
        let source = #"{"install_id":"\#(Wire.id())","authorization":\#(literal),\#(members(Self.sourceMembers))}"#
        let notification =
            #"{"id":\#(literal),"origin":\#(literal),"unheard_of":\#(literal),\#(members(Self.notificationMembers))}"#
        let more = #""source":\#(source),"own":{\#(literal):\#(literal)}"#
        return [
            (
                "action.tapped",
                #""action_id":\#(literal),"activation":\#(literal),"handled_in":\#(literal),"launch":\#(literal)"#
            ),
            ("story.started", #""page_count":3"#),
            ("story.page_shown", #""page_index":0,"cause":\#(literal)"#),
            ("story.action_tapped", #""page_index":1,"link_scheme":\#(literal),"link_host":\#(literal)"#),
            ("story.fallback_shown", #""reason":\#(literal)"#), ("notification.opened", #""launch":\#(literal)"#),
            (
                "notification.received",
                #""via":\#(literal),"presentation":[\#(literal)],"media":{"kind":\#(literal),"format":\#(literal),"outcome":"attached"}"#
            ),
        ].map { type, own in
            Wire.event(type: type, at: at.moment, notification: notification, more: "\(own),\(more)")
        }
    }

    private func post(_ texts: [String], to shop: ProjectedShop, _ key: String) throws {
        for text in texts {
            let results = try shop.service.client().post(
                "{\"events\":[\(try events(text).joined(separator: ","))]}", key: key
            )
            .results
            #expect(results.accepted == 7 && results.results.isEmpty, "\(results)")
        }
    }

    private func tellSends(_ texts: [String], to shop: ProjectedShop, _ key: String) throws {
        let sends = try texts.map { text in
            let literal = try HostileText.json(text)
            let members = ["id", "campaign", "variant", "category", "thread", "topic", "analytics_label"].map {
                "\"\($0)\":\(literal)"
            }.joined(separator: ",")
            let page =
                #"{"image":"https://example.org/1","title":\#(literal),"subtitle":\#(literal),"button_title":\#(literal),"link":\#(literal)}"#
            return
                #"{\#(members),"sent_at":"\#(at.moment)","recipients":3,"payload":{"own":\#(literal),"pw_stories":{"pages":[\#(page)]}}}"#
        }
        let answer = try shop.service.client().send(
            "POST", "/v1/sends", headers: ["Authorization": "Bearer \(key)", "Content-Type": "application/json"],
            body: Array("{\"sends\":[\(sends.joined(separator: ","))]}".utf8))
        #expect(try answer.results.accepted == texts.count, "\(answer.body)")
    }

    /// Titles are read by people, and must have no controls; the rest is theirs to choose.
    private func registerTitles(_ texts: [String], to shop: ProjectedShop, _ key: String) throws -> Int {
        let categories = try texts.enumerated().map { number, text in
            let literal = try HostileText.json(text)
            return
                #"{"id":"C\#(number)","category_summary_format":\#(literal),"hidden_previews_body_placeholder":\#(literal),"actions":[{"id":"A","titles":{"en":\#(literal)}}]}"#
        }
        let answer = try shop.service.client().send(
            "PUT", "/v1/categories", headers: ["Authorization": "Bearer \(key)", "Content-Type": "application/json"],
            body: Array("{\"categories\":[\(categories.joined(separator: ","))]}".utf8))
        #expect(answer.problem != nil || answer.status == 200, "\(answer)")
        #expect(HostileText.obeyed(in: answer.body, allowing: ["\n"]) == [])
        _ = try JSONSerialization.jsonObject(with: Data(answer.body.utf8))
        return answer.status
    }

    // MARK: What is read

    /// The rows of a query as the real psql gives them to an analyst, read from JSON.
    private func rows(_ query: String, _ shop: ProjectedShop) throws -> [[String: Any]] {
        let output = try shop.bellwether.trusted("psql", "--", "-XAtc", "SELECT row_to_json(r) FROM (\(query)) AS r")
        return try output.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    /// Whether a text is there byte for byte: Swift's own strings are equal when they look so.
    private func isSame(_ value: Any?, _ text: String) -> Bool {
        (value as? String).map { Array($0.utf8) } == Array(text.utf8)
    }

    @Test("psql gives back byte for byte what was posted, and counting it anew finds no difference")
    func throughToPsql() throws {
        try ProjectedShop.open { shop in
            let serverKey = String(try shop.bellwether.trusted("app", "key", "add", "shop", "--server").dropLast())
            try post(HostileText.all, to: shop, shop.app.secret)
            try tellSends(HostileText.all, to: shop, serverKey)
            let titles = HostileText.all.filter { text in
                !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
            }
            #expect(titles.count < HostileText.all.count && titles.count > 30)
            #expect(try registerTitles(HostileText.all, to: shop, serverKey) == 422)
            #expect(try registerTitles(titles, to: shop, serverKey) == 200)

            let events = try rows("SELECT * FROM events ORDER BY batch, type", shop)
            #expect(events.count == 7 * HostileText.all.count)
            for text in HostileText.all {
                let own = events.filter { isSame($0["category"], text) }
                #expect(own.count == 7, "\(text.debugDescription)")
                for event in own {
                    for name in Self.sourceMembers + Self.notificationMembers + ["notification_id", "notification_key"]
                    {
                        #expect(isSame(event[name], text), "\(name) of \(text.debugDescription)")
                    }
                    let extra = try #require(event["extra"] as? [String: Any])
                    let unknown = extra["own"] as? [String: Any]
                    #expect(unknown?.count == 1 && isSame(unknown?.keys.first, text))
                    #expect(isSame(unknown?.values.first, text))
                    #expect(isSame((extra["notification"] as? [String: Any])?["unheard_of"], text))
                    #expect(isSame((extra["source"] as? [String: Any])?["authorization"], text))
                    let type = event["type"] as? String
                    for name in type == "action.tapped"
                        ? ["action_id"]
                        : type == "story.action_tapped"
                            ? ["link_scheme", "link_host"] : type == "notification.received" ? ["media_format"] : []
                    { #expect(isSame(event[name], text), "\(name) of \(text.debugDescription)") }
                }
            }
            let sends = try rows("SELECT * FROM sends", shop)
            let pages = try rows("SELECT * FROM story_pages", shop)
            let buttons = try rows("SELECT * FROM category_buttons WHERE verdict <> 'unregistered'", shop)
            let categories = try rows("SELECT * FROM categories", shop)
            for text in HostileText.all {
                let send = sends.first { isSame($0["send_id"], text) }
                for name in ["campaign", "variant", "category", "thread", "topic", "analytics_label"] {
                    #expect(isSame(send?[name], text), "\(name) of \(text.debugDescription)")
                }
                #expect(isSame((send?["payload"] as? [String: Any])?["own"], text))
                let page = pages.first { isSame($0["campaign"], text) }
                for name in ["page_title", "subtitle", "button_title", "link"] {
                    #expect(isSame(page?[name], text), "\(name) of \(text.debugDescription)")
                }
            }
            for text in titles {
                #expect(buttons.contains { isSame($0["title"], text) }, "\(text.debugDescription)")
                #expect(
                    categories.contains {
                        isSame($0["category_summary_format"], text)
                            && isSame($0["hidden_previews_body_placeholder"], text)
                    }, "\(text.debugDescription)")
            }
            try shop.expectProved()
            let funnel = try rows("SELECT * FROM category_funnel", shop)
            for text in HostileText.all { #expect(funnel.contains { isSame($0["category"], text) }) }
        }
    }

    @Test("what cannot be held is refused alone, kept as it came, and listed so that a terminal obeys nothing")
    func unholdable() throws {
        try ProjectedShop.open { shop in
            let literals = [
                #""\u0000""#, #""a\u0000'; --""#, #""\ud800""#, #""\udc00\ud800""#, #""\ud83d<b>""#,
                try HostileText.json(String(repeating: "x", count: 257)), "[\"\\u001b[31m\"]",
                try HostileText.json(String(repeating: "😀", count: 65)),
            ]
            let bad = literals.map { literal in
                Wire.event(notification: #"{"id":"a","category":\#(literal),"\u001b[7m|<b>\u202e":1}"#)
            }
            let answer = try shop.service.client().post(Wire.envelope([Wire.event()] + bad), key: shop.app.secret)
            let results = try answer.results
            #expect((results.accepted, results.rejected) == (1, bad.count))
            #expect(results.results.allSatisfy { $0.reason == "invalid_field" }, "\(results)")
            #expect(HostileText.obeyed(in: answer.body, allowing: ["\n"]) == [])
            // A control that is no JSON at all refuses the envelope.
            for byte in [UInt8(0), 1, 0x1b, 0x0a] {
                let raw = Array(Wire.envelope(Wire.event(notification: #"{"id":"?"}"#)).utf8).map {
                    $0 == 0x3f ? byte : $0
                }
                #expect(try shop.service.client().post(raw, key: shop.app.secret).problem?.code == "not_json")
            }
            let kept = try rows("SELECT raw FROM rejected_events", shop).map { $0["raw"] as? String }
            #expect(Set(kept) == Set(bad))
            let listed = try shop.bellwether.trusted("rejected", "list")
            #expect(HostileText.obeyed(in: listed, allowing: ["\n"]) == [])
            #expect(listed.split(separator: "\n").count == bad.count + 1, "\(listed)")
            let json = try shop.bellwether.trusted("rejected", "list", "--format", "json").split(separator: "\n")
            let raws = try json.map { line in
                try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])["raw"]
                    as? String
            }
            #expect(Set(raws) == Set(bad))
            #expect(json.allSatisfy { HostileText.obeyed(in: $0) == [] })
        }
    }

    @Test("reports of them have the shape of reports of harmless ones, and nobody who reads them obeys anything")
    func reports() throws {
        try ProjectedShop.open { shop in
            let harmless = HostileText.all.indices.map { "harmless\(100 + $0)" }
            var apps = [("shop", HostileText.all, shop.app.secret)]
            apps.append(("plain", harmless, try shop.database.makeApp("plain").secret))
            var documents: [String: [String: String]] = [:]
            for (slug, texts, key) in apps {
                let serverKey = String(try shop.bellwether.trusted("app", "key", "add", slug, "--server").dropLast())
                try post(texts, to: shop, key)
                try tellSends(texts, to: shop, serverKey)
                let titles = zip(texts, HostileText.all).filter { pair in
                    !pair.1.unicodeScalars.contains { $0.properties.generalCategory == .control }
                }.map(\.0)
                #expect(try registerTitles(titles, to: shop, serverKey) == 200)
            }
            _ = try shop.bellwether.trusted("project", "--once")
            for (slug, _, _) in apps {
                for format in ["text", "markdown", "html", "json", "csv"] {
                    documents[format, default: [:]][slug] = try shop.bellwether.trusted(
                        "report", "--app", slug, "--date", at.day, "--format", format)
                }
            }
            for (format, both) in documents {
                // A name from right to left is isolated in Markdown, by us.
                let ours: Set<Unicode.Scalar> = format == "markdown" ? ["\n", "\u{2066}", "\u{2069}"] : ["\n"]
                #expect(HostileText.obeyed(in: try #require(both["shop"]), allowing: ours) == [], "\(format)")
            }
            let shapes = try DocumentShape.all(of: documents)
            for (format, both) in shapes {
                let (hostile, plain) = (try #require(both["shop"]), try #require(both["plain"]))
                #expect(plain.parts.values.reduce(0, +) > 50, "\(format)")
                #expect(hostile.parts == plain.parts, "\(format): \(hostile.differences(from: plain))")
                #expect(hostile.faults == [], "\(format)")
                #expect(plain.faults == [], "\(format)")
            }
            // Whoever parses it reads the very names.
            let report = try #require(
                JSONSerialization.jsonObject(with: Data((documents["json"]?["shop"] ?? "").utf8)) as? [String: Any])
            let names = (report["categories"] as? [[String: Any]])?.compactMap {
                ($0["category"] ?? $0["name"]) as? String
            }
            let missing = HostileText.all.filter { text in !(names ?? []).contains { isSame($0, text) } }
            #expect(missing == [], "\(names ?? [])")
        }
    }

    @Test("requests made of them are answered in JSON, and leave log and metrics whole")
    func requests() throws {
        try ProjectedShop.open("--log-level", "debug") { shop in
            let service = shop.service
            let envelope = Array(Wire.envelope(Wire.event()).utf8)
            for text in HostileText.all {
                // In a head a line ends where it ends, so those are of no use there.
                let line = text.unicodeScalars.filter { !"\r\n\0".unicodeScalars.contains($0) }.map { String($0) }
                    .joined()
                let word = line.filter { !" \t".contains($0) }
                for head in [
                    "GET /\(word) HTTP/1.1\r\nHost: b\r\nUser-Agent: \(line)\r\nReferer: \(line)\r\n\r\n",
                    "GET /metrics?\(word)=\(word) HTTP/1.1\r\nHost: \(word)\r\nCookie: \(line)\r\n\r\n",
                    "POST /v1/events HTTP/1.1\r\nHost: b\r\nAuthorization: Bearer \(word)\r\nContent-Length: 0\r\n\r\n",
                    "POST /v1/events HTTP/1.1\r\nHost: b\r\nAuthorization: \(line)\r\nContent-Length: 0\r\n\r\n",
                    "POST /v1/events HTTP/1.1\r\nHost: b\r\nOrigin: \(line)\r\nAuthorization: Bearer \(shop.app.secret)\r\n"
                        + "Content-Type: \(line)\r\nContent-Length: 0\r\n\r\n",
                    "POST /v1/events HTTP/1.1\r\nHost: b\r\nAuthorization: Bearer \(shop.app.secret)\r\n"
                        + "Content-Type: application/json\r\nContent-Encoding: x\(line)\r\nContent-Length: 0\r\n\r\n",
                    "\(word) /v1/events HTTP/1.1\r\nHost: b\r\n\r\n", "\(line)\r\n\r\n",
                ] {
                    let client = try RawClient(port: service.port)
                    client.send(head)
                    client.finishSending()
                    // What is no HTTP gets the library's own answer, or the connection's end.
                    guard let answer = try? client.answer() else { continue }
                    #expect(answer.status != 500 && answer.status < 600, "\(head.debugDescription) \(answer)")
                    if answer["content-type"] == "application/problem+json" {
                        #expect(answer.problem != nil && HostileText.obeyed(in: answer.body, allowing: ["\n"]) == [])
                    }
                    #expect(!answer.headers.contains { $0.value.contains(line) && line.utf8.count > 6 }, "\(answer)")
                }
                // A client's own report of what it dropped: that one is told to the log.
                let literal = try HostileText.json(text)
                let drops = #""dropped":[{"id":\#(literal),\#(literal):\#(literal),"count":"x","reason":\#(literal)}]"#
                let answer = try service.client().post(
                    Wire.envelope(more: drops, Wire.event()), key: shop.app.secret)
                #expect(try answer.results.accepted == 1)
            }
            #expect(try service.client().post(envelope, key: shop.app.secret).status == 200)

            let metrics = try service.client().get("/metrics").body
            _ = try Metrics(metrics)
            #expect(HostileText.obeyed(in: metrics, allowing: ["\n"]) == [] && !metrics.contains("forged"))
            #expect(try service.stop() == 0)
            let lines = service.log.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.last?.isEmpty == true)
            var told = 0
            for line in lines.dropLast() {
                let record = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                #expect(record?["message"] is String && record?["level"] as? String != "error", "\(line)")
                #expect(HostileText.obeyed(in: line) == [], "\(line)")
                guard (record?["message"] as? String)?.contains("dropped events could not be read") == true else {
                    continue
                }
                // Of so many alike not all are written.
                told += (record?["left out"] as? String).flatMap { Int($0) } ?? 1
            }
            #expect(told == HostileText.all.count)
        }
    }

    @Test("commands that are given them refuse or keep them, and write nothing that a terminal obeys")
    func commands() throws {
        try ProjectedShop.open { shop in
            var named: Set<[UInt8]> = []
            for (number, text) in HostileText.all.enumerated() {
                for words in [
                    ["app", "create", text], ["app", "set", text, "--rate-limit", "5"],
                    ["app", "key", "revoke", "shop", text],
                    ["app", "set", "shop", "--time-zone", text], ["report", "--app", text], [text],
                    ["categories", "import", "--app", "shop", text],
                ][...(number % 6 == 0 ? 6 : 0)] {
                    let ended = try shop.bellwether.start(words).wait()
                    #expect([1, 64].contains(ended.status) && ended.output.isEmpty, "\(words) \(ended)")
                    #expect(HostileText.obeyed(in: ended.messages, allowing: ["\n"]) == [], "\(words)")
                }
                let key = try shop.bellwether.start(["app", "key", "add", "shop", "--name", text]).wait()
                #expect(HostileText.obeyed(in: key.messages, allowing: ["\n"]) == [])
                if key.status == 0 { named.insert(Array(text.utf8)) }
                #expect(
                    key.status == 0 || HostileText.obeyed(in: text) != [] || text.unicodeScalars.count > 64, "\(key)")
            }
            #expect(named.count > 20)
            let table = try shop.bellwether.trusted("app", "list")
            #expect(
                HostileText.obeyed(in: table, allowing: ["\n"]) == []
                    && table.split(separator: "\n").count > named.count)
            let json = try shop.bellwether.trusted("app", "list", "--format", "json")
            let apps = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [[String: Any]])
            let names = (apps.first?["keys"] as? [[String: Any]])?.compactMap { $0["name"] as? String } ?? []
            #expect(named.isSubset(of: Set(names.map { Array($0.utf8) })))

            // Documents and lines that are refused say what is wrong with them.
            let ids = try HostileText.all.map { text in
                let literal = try HostileText.json(text)
                return #"{"id":\#(literal),\#(literal):1,"actions":[{"id":\#(literal),"answer":\#(literal)}]}"#
            }
            let files = TemporaryDirectory()
            try "{\"categories\":[\(ids.joined(separator: ","))]}".write(
                toFile: files("c.json"), atomically: false, encoding: .utf8)
            let sends = try HostileText.all.map { try HostileText.json($0) }.flatMap { literal in
                [#"{"id":\#(literal),"recipients":\#(literal)}"#, #"{\#(literal):1}"#, literal]
            }
            for (words, input) in [
                (["categories", "import", "--app", "shop", files("c.json")], ""),
                (["sends", "import", "--app", "shop", "-"], sends.joined(separator: "\n") + "\n"),
                (["import", "fcm-export", "--app", "shop", "-"], sends.joined(separator: "\n") + "\n"),
            ] {
                let ended = try shop.bellwether.start(words, input: input).wait()
                #expect(ended.status == 1 && !ended.messages.isEmpty, "\(words) \(ended.status)")
                #expect(HostileText.obeyed(in: ended.output + ended.messages, allowing: ["\n"]) == [], "\(words)")
            }
            // And what is about texts that were posted.
            let serverKey = String(try shop.bellwether.trusted("app", "key", "add", "shop", "--server").dropLast())
            try post(HostileText.all, to: shop, shop.app.secret)
            #expect(try registerTitles(["\u{202e}evil", "<b>|`"], to: shop, serverKey) == 200)
            _ = try shop.bellwether.trusted("project", "--once")
            for words in [["categories", "list"], ["categories", "check"]] {
                for format in ["text", "json"] {
                    let ended = try shop.bellwether.start(words + ["--app", "shop", "--format", format]).wait()
                    #expect(ended.status <= 1 && !ended.output.isEmpty, "\(ended)")
                    #expect(
                        HostileText.obeyed(in: ended.output + ended.messages, allowing: ["\n"]) == [],
                        "\(words) \(format)")
                    guard format == "json" else { continue }
                    let objects = try ended.output.split(separator: "\n").map { line in
                        try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
                    }
                    if words.last == "list" {
                        for text in HostileText.all { #expect(objects.contains { isSame($0["category"], text) }) }
                    }
                }
            }
        }
    }
}
