import Accounts
import CatalogueSupport
import EventLog
import Foundation
import HTTPServer
import Postgres
import ProjectFolder
import Projections
import Reports
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@testable import Look

@Suite("Pages") struct PagesTests {
    private let shop: LookedAt

    init() throws { shop = try LookedAt.get() }

    /// All pages, those of hostile names too.
    static func addresses(_ shop: LookedAt) -> [PageState] {
        var states = [PageState()]
        for page in PageState.Page.allCases where page != .overview && page != .live {
            states.append(PageState(page, app: "shop"))
        }
        for name in ["SALE", "MANY"] + HostileNames.all {
            states.append(PageState(.category, app: "shop").with([.category: name]))
            states.append(PageState(.story, app: "shop").with([.campaign: name == "SALE" ? "autumn" : name]))
            states.append(PageState(.campaign, app: "shop").with([.campaign: name == "SALE" ? "autumn" : name]))
            states.append(
                PageState(.deliveries, app: "shop").with([.category: name, .variant: name, .flag: "received"]))
        }
        for name in ["half", HostileNames.all[0], "none"] {
            states.append(PageState(.experiment, app: "shop").with([.experiment: name]))
        }
        let nobody = "8f2f6f0e-6a0c-4d3a-9a52-0d6c2f6f7a11"
        states.append(PageState(.install, app: "shop").with([.install: nobody]))
        states.append(PageState(.install, app: "shop").with([.notification: "none"]))
        var hours = PageState(.category, app: "shop").with([.category: "SALE"])
        hours.table = "hours"
        var pressure = PageState(.category, app: "shop").with([.category: "MANY"])
        pressure.table = "pressure"
        var found = PageState(.category, app: "shop")
        found.search = "a"
        for name in ["order", "purchase", HostileNames.all[0]] {
            states.append(PageState(.goal, app: "shop").with([.goal: name]))
            states.append(PageState(.goal, app: "shop").with([.goal: name, .rule: "receipt"]))
        }
        states.append(PageState(.goal, app: "shop").with([.goal: "order", .campaign: "autumn"]))
        states.append(PageState(.goal, app: "shop").with([.category: "MANY"]))
        var reached = PageState(.goal, app: "shop")
        reached.table = "reached"
        var versions = PageState(.versions, app: "shop").with([.version: "4.2.0", .against: "4.1.9"])
        states.append(versions.with([.platform: "ios"]))
        versions.table = "by_category"
        var compared = PageState(.app, app: "shop")
        compared.days = DayRange(7, upTo: shop.today)
        compared.compared = DayRange(7, upTo: shop.today.advanced(by: -7))
        var weeks = PageState(.app, app: "shop")
        weeks.step = .week
        return states + [hours, pressure, found, reached, versions, compared, weeks]
    }

    @Test("each page comes, for no cache, and with a policy that lets nothing else in")
    func safe() throws {
        let client = shop.client
        for state in Self.addresses(shop) {
            let answer = try client.get(state.address, headers: ["Accept-Encoding": "gzip"])
            #expect(answer.status == 200, "\(state.address)")
            #expect(answer["cache-control"] == "no-store" && answer["x-content-type-options"] == "nosniff")
            #expect(answer["content-security-policy"] == LookResponse.policy)
            let text = try client.get(state.address).body
            for word in [" style=", "<style", "onload=", "onerror=\"", "<script>", "http://", "https://"] {
                let at = text.range(of: word).map { text[$0.lowerBound...].prefix(80) }
                #expect(at == nil, "\(state.address): \(at ?? "")")
            }
            #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control })
        }
        #expect(!LookResponse.policy.contains("unsafe"))
    }

    @Test("each page is as small on the wire as the guide says, and so is one of the most days that there can be")
    func small() throws {
        let guide = try ProjectFolder.text(of: "Docs/Look.md")
        let said = try #require(
            guide.firstMatch(of: /up to ([0-9]+) KB on the wire, and one of ([0-9]+)\sdays up to ([0-9]+) KB/))
        let (usual, most, long) = (Int(said.1) ?? 0, Int(said.2) ?? 0, Int(said.3) ?? 0)
        // Those of hostile names have less to show.
        let states = Self.addresses(shop).filter { state in
            state.filters.values.allSatisfy { !HostileNames.all.contains($0) }
        }
        let all = DayRange(most, upTo: shop.today)
        for (state, kilobytes) in states.map({ ($0, usual) }) + states.map({ ($0.over(all), long) }) {
            let answer = try shop.client.get(state.address, headers: ["Accept-Encoding": "gzip"])
            #expect(answer.status == 200 && answer["content-encoding"] == "gzip", "\(state.address)")
            #expect(Int(answer["content-length"] ?? "") ?? .max <= kilobytes * 1000, "\(state.address)")
        }
        #expect(throws: AddressFault.self) {
            try PageState(path: "/app/shop", query: "from=\(all.first.advanced(by: -1))&to=\(all.last)")
        }
    }

    @Test("each table's SQL, run in psql as it is shown, gives the figures of the page")
    func sameInPsql() throws {
        let source = PageSource(settled: SettledApps(), now: shop.now)
        var analyst = try shop.database.session(.analyst)
        var (asked, tables) = ("", [(state: PageState, answer: Answer)]())
        for state in Self.addresses(shop) {
            let sight = try source.sight(state, on: &analyst)
            for piece in sight.parts.flatMap(\.pieces) {
                switch piece {
                case .answer(let answer), .source(let answer):
                    asked += "\(answer.listing.shown);\n\\echo -- end\n"
                    tables.append((state, answer))
                default: break
                }
            }
        }
        let ran = try ChildProcess.run(
            ["psql", "-XAtq", "-F", "\u{1}", "-R", "\u{2}", try shop.database.url(as: TestPostgres.analyst)],
            environment: [:],
            input: asked)
        #expect(ran.messages.isEmpty, "\(ran.messages.prefix(500))")
        let results = ran.output.components(separatedBy: "-- end\n")
        try #require(results.count == tables.count + 1)
        for ((state, answer), printed) in zip(tables, results) {
            let rows = printed.isEmpty ? [] : printed.dropLast().components(separatedBy: "\u{2}")
            let shown = answer.grid.rows.map { row in row.values.map { $0?.inPsql ?? "" }.joined(separator: "\u{1}") }
            #expect(
                shown.map { Array($0.utf8) } == rows.map { Array($0.utf8) }, "\(state.address) \(answer.listing.name)")
        }
        #expect(tables.count > 200 && tables.filter { !$0.answer.grid.rows.isEmpty }.count > 100)
    }

    @Test("the figures are those of the views") func figures() throws {
        let all = DayRange(28, upTo: shop.today)
        let page = try shop.client.get("/app/shop/category?category=SALE&from=\(all.first)&to=\(all.last)").body
        let row = try #require(
            shop.database.analystRows(
                "SELECT sum(delivered), sum(received_engaged) FROM category_funnel WHERE app = 'shop' AND category = 'SALE'"
            ).first)
        #expect(row == "(288,132)")
        #expect(page.contains(">288<") && page.contains(">132<"), "what the funnel says is on the page")
        #expect(page.contains("How settled") || page.contains("Not settled yet") || page.contains("have settled"))
    }

    @Test("silent pushes are woken, never delivered, and the page says so; nothing is said where there are none")
    func woken() throws {
        func campaign(_ name: String) throws -> String {
            try shop.client.get(PageState(.campaign, app: "shop").with([.campaign: name]).address).body
        }
        let note = "A campaign of silent pushes alone has 0 delivered and has not failed."
        let list = try shop.client.get("/app/shop/campaign").body
        #expect(list.contains(">Woken<") && list.contains(note))
        let csv = try shop.client.get("/app/shop/campaign?table=campaigns&format=csv").body.split(separator: "\r\n")
        let woken = try #require(csv.first?.split(separator: ",").firstIndex(of: "woken"))
        let rows = csv.map { $0.split(separator: ",", omittingEmptySubsequences: false) }
        let sync = try #require(rows.first { $0[0] == "sync" })
        #expect(sync[woken] == "\(LookedAt.silent)" && !sync.contains("\(LookedAt.silent + 1)"), "\(sync)")
        let alone = try campaign("sync")
        #expect(
            alone.contains("12 silent pushes of this campaign woke the app. They show nothing, so nobody can answer"))
        let mixed = try campaign("many")
        #expect(mixed.contains("Besides, 2 silent pushes of this campaign woke the app."))
        #expect(try !campaign("autumn").contains("silent push"))
    }

    @Test("a table comes as CSV: raw figures, all rows, nothing that a spreadsheet obeys") func csv() throws {
        let all = DayRange(28, upTo: shop.today)
        let answer = try shop.client.get("/app/shop?from=\(all.first)&to=\(all.last)&table=categories&format=csv")
        #expect(answer.status == 200 && answer["content-type"]?.hasPrefix("text/csv") == true)
        #expect(answer["content-disposition"]?.hasPrefix("attachment; filename=\"shop-app-categories-") == true)
        let lines = answer.body.split(separator: "\r\n")
        #expect(lines.first?.hasPrefix("category,delivered,received,receipt_coverage") == true)
        #expect(lines.contains { $0.hasPrefix("SALE,288,288,1.000000,132,0.458333") }, "\(lines.prefix(3))")
        #expect(answer.body.contains("'=cmd|") && !answer.body.contains("\n=cmd"))
        #expect(try shop.client.get("/app/shop?table=none&format=csv").status == 404)
    }

    @Test("the deliveries behind a figure come a hundred at a time, each once, by the links of the page")
    func deliveries() throws {
        var (address, seen, pages): (String?, [Substring], Int) = (
            "/app/shop/deliveries?category=MANY&to=\(shop.today.advanced(by: -2))", [], 0
        )
        while let next = address, pages < 10 {
            let page = try shop.client.get(next).body
            seen += page.matches(of: /\/app\/shop\/install\?[^"]*install=([0-9a-f-]{36})/).map { $0.1 }
            let link = page.firstMatch(of: /<a href="([^"]*)"><bdi>Next 100<\/bdi>/)
            address = link.map { String($0.1).replacingOccurrences(of: "&amp;", with: "&") }
            pages += 1
        }
        #expect(pages == 3 && seen.count == LookedAt.many && Set(seen).count == LookedAt.many)
    }

    @Test("times are those of the app's zone, as its days are") func zone() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp("shop", timeZone: "Asia/Tokyo")
        // Five in the morning of the next day there.
        let day = shop.today.advanced(by: -2)
        let evening = Timestamp(microseconds: Int64(day.daysSince1970) * 86_400_000_000 + 72_000_000_000)
        try database.run("SELECT log.make_partition(date_trunc('month', date '\(day)')::date)")
        let receipt = Event.sample(at: evening, interaction: .received(Receipt(via: .serviceExtension)))
        _ = try database.appender().append([app.submission([receipt], receivedAt: evening)])
        _ = try ProjectionControl(url: try database.url(), log: .silent).catchUp()
        let look = try LookedAt.open(database)
        defer { look.stop(deadline: .now) }
        let next = day.advanced(by: 1)
        let page = try HTTPClient(look).get("/app/shop/deliveries?from=\(next)&to=\(next)").body
        #expect(page.contains(">\(next) 05:00:00<") && page.contains(", Asia/Tokyo time"))
    }

    @Test("what scans a day is read when somebody asks for it") func asked() throws {
        let page = try shop.client.get("/app/shop/category?category=SALE").body
        #expect(!page.contains("By hour of the receipt"))
        let link = try #require(page.firstMatch(of: /<a href="([^"]*table=hours[^"]*)">/))
        let asked = try shop.client.get(String(link.1).replacingOccurrences(of: "&amp;", with: "&")).body
        #expect(asked.contains("By hour of the receipt") && asked.contains("By version of the app"))
        for table in ["versions", "hours"] {
            let csv = try shop.client.get("/app/shop/category?category=SALE&table=\(table)&format=csv")
            #expect(csv.status == 200 && csv.body.contains("engagement_rate"))
        }
    }

    @Test("a report is shown as it was told, with its own style and nothing else") func told() throws {
        let list = try shop.client.get("/app/shop/reports").body
        let link = try #require(list.firstMatch(of: /<a href="([^"]*position=[0-9]+)">/))
        let answer = try shop.client.get(String(link.1).replacingOccurrences(of: "&amp;", with: "&"))
        let kept: [String] = try shop.database.column("SELECT as_html FROM report.kept")
        #expect(answer.body == kept.first)
        #expect(answer["content-security-policy"]?.contains("style-src 'sha256-") == true)
        #expect(answer["content-security-policy"]?.contains("unsafe") == false)
    }

    @Test("no route writes: each takes GET and HEAD alone, and a reader's session refuses to write") func readOnly()
        throws
    {
        let client = shop.client
        for state in Self.addresses(shop).prefix(12) {
            for method in ["POST", "PUT", "PATCH", "DELETE"] {
                let answer = try client.send(method, state.address, body: [])
                #expect(answer.status == 405 && answer["allow"] == "GET, HEAD")
            }
            #expect(try client.send("HEAD", state.address).status == 200)
        }
        let readers = Readers(url: try shop.database.url(), log: .silent)
        readers.start()
        defer { readers.stop() }
        let refused = Lock<String?>(nil)
        readers.submit { connection in
            _ = try connection.query("CREATE TEMP TABLE written (n integer)")
        } refuse: { refusal in
            refused.withLockNotifying { $0 = "\(refusal)" }
        }
        #expect(refused.wait(until: .after(seconds: 20)) { $0 }?.contains("25006") == true)
    }

    @Test("what is not there is said: no page, no app, no sense") func missing() throws {
        #expect(try shop.client.get("/nowhere").status == 404)
        #expect(try shop.client.get("/app/nobody").status == 404)
        let answer = try shop.client.get("/app/shop?colour=%3Cscript%3E")
        #expect(answer.status == 400)
        #expect(try shop.client.get(LookStyle.address)["cache-control"]?.contains("immutable") == true)
        for other in ["/look.css", "/look.css?v=another", "/robots.txt"] {
            #expect(try shop.client.get(other)["cache-control"] == "public, max-age=60")
        }
    }

    @Test("a request that names another machine gets no page (DNS rebinding)") func rebinding() throws {
        let client = shop.client
        for host in ["evil.example", "127.0.0.1.evil.example", "localhost.evil", "[::2]", "127.0.0.1:evil.example"] {
            let answer = try RawAsk.get("/app/shop", host: host, of: shop.look)
            #expect(answer.status == 421 && !answer.body.contains("SALE"))
        }
        for host in ["localhost:8081", "127.0.0.1", "[::1]:80", "LOCALHOST"] {
            #expect(try RawAsk.get("/app/shop", host: host, of: shop.look).status == 200)
        }
        #expect(try client.get("/").status == 200)
    }

    @Test("so many pages are read at once and so many wait; a slow one is cancelled, and says so") func bounded() throws
    {
        var limits = Readers.Configuration()
        (limits.sessions, limits.mostWaiting, limits.statementSeconds) = (1, 1, 1)
        let readers = Readers(url: try shop.database.url(as: TestPostgres.analyst), limits, log: .silent)
        readers.start()
        defer { readers.stop() }
        let seen = Lock<[String]>([])
        let isRunning = Lock(false)
        func ask(_ name: String) {
            readers.submit { connection in
                isRunning.withLockNotifying { $0 = true }
                _ = try connection.query("SELECT pg_sleep(20)")
            } refuse: { refusal in
                seen.withLockNotifying { $0.append("\(name) \(refusal)") }
            }
        }
        ask("first")
        #expect(isRunning.wait(until: .after(seconds: 20)) { $0 ? true : nil } == true)
        ask("second")
        ask("third")
        let all = seen.wait(until: .after(seconds: 20)) { $0.count == 3 ? $0 : nil }
        #expect(all == ["third busy", "first slow(seconds: 1)", "second slow(seconds: 1)"])
        let slow = Notice(.slow(seconds: 8), PageState(.app, app: "shop")).response(.page)
        #expect(slow.status == 503 && String(decoding: slow.body, as: UTF8.self).contains("after 8 seconds"))
        #expect(slow.headers.contains { $0 == ("Retry-After", "2") })
    }
}

/// A request with a Host of its own.
enum RawAsk {
    static func get(_ path: String, host: String, of look: Look, headers: String = "") throws -> RawClient.Answer {
        guard case .tcp(_, let port) = look.address else { fatalError("no port") }
        let client = try RawClient(port: port)
        client.send("GET \(path) HTTP/1.1\r\nHost: \(host)\r\n\(headers)\r\n")
        return try client.answer(within: 30)
    }
}

extension AnyPostgresValue {
    /// As psql prints it for a reader in UTC.
    fileprivate var inPsql: String {
        guard case .moment(let moment) = self else { return plain }
        var text = moment.description.replacingOccurrences(of: "T", with: " ").replacingOccurrences(of: "Z", with: "")
        while text.hasSuffix("0") { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
        return text + "+00"
    }
}
