import Accounts
import CatalogueSupport
import Envelopes
import EventLog
import Foundation
import HTTPServer
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@testable import Look

/// The pages in a real browser, as people use them. A machine without it fails: `make deps` installs it.
@Suite("Pages in a browser", .serialized) struct BrowserTests {
    private let shop: LookedAt
    private let browser: Chromium

    init() throws {
        (shop, browser) = (try LookedAt.get(), try Chromium())
    }

    private func address(_ path: String, _ look: Look? = nil) -> String {
        "http://\((look ?? shop.look).address)\(path)"
    }

    /// A page of each kind, and those of hostile names.
    private var paths: [String] {
        PagesTests.addresses(shop).map(\.address).enumerated().filter { place, _ in place < 14 || place % 7 == 0 }.map(
            \.element)
            + ["/app/shop/live", "/nowhere"]
    }

    /// Looks at the open page: what overflows, what is too faint, what a page that everybody can read must have.
    private static let inspection = """
        (() => {
          const faults = [];
          const must = (holds, what) => { if (!holds) faults.push(what); };
          const page = document.documentElement;
          must(page.scrollWidth <= page.clientWidth, `no wider than ${page.clientWidth}, but ${page.scrollWidth}`);
          must(window.obeyed === undefined, "no name that ran");
          const count = selector => document.querySelectorAll(selector).length;
          must(count("h1") == 1 && count("main") == 1 && count("header") == 1, "its landmarks");
          must(page.lang == "en" && document.title.length > 3, "language and title");
          must(count("h3, h4, h5, h6, [style], style, [onclick], [onload]") == 0, "no style or script of its own");
          for (const table of document.querySelectorAll("table")) {
            must(table.caption?.textContent.trim(), "a table's caption");
            must([...table.tHead.rows[0].cells].every(cell => cell.matches("th[scope=col]")), "heads of columns");
            for (const row of table.tBodies[0].rows) {
              must(row.cells[0].matches("th[scope=row]") && row.cells.length == table.tHead.rows[0].cells.length, "a row's cells");
            }
            must(table.closest(".scroll[tabindex='0']"), "a table's box");
          }
          for (const picture of document.querySelectorAll("svg")) {
            if (picture.closest("[aria-hidden=true], svg svg")) continue;
            const words = (picture.getAttribute("aria-labelledby") ?? "").split(" ").map(id => document.getElementById(id)?.textContent);
            must(picture.getAttribute("role") == "img" && words.length == 2 && words.every(Boolean), "a picture's words");
          }
          for (const field of document.querySelectorAll("input:not([type=hidden]), select")) must(field.closest("label"), "a field's label");
          for (const link of document.querySelectorAll("a")) {
            must(link.textContent.trim(), "a link's text: " + link.outerHTML.slice(0, 80));
            must(/^[/#]/.test(link.getAttribute("href")), "links to this place: " + link.getAttribute("href"));
          }
          const ids = [...document.querySelectorAll("[id]")].map(element => element.id);
          must(new Set(ids).size == ids.length, "ids that stand once");
          const numbers = color => (color.match(/[\\d.]+/g) ?? []).map(Number);
          const light = ([r, g, b]) => [r, g, b].map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
            .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
          const ground = element => {
            for (let at = element; at; at = at.parentElement) {
              const [r, g, b, alpha = 1] = numbers(getComputedStyle(at).backgroundColor);
              if (alpha > 0) return [r, g, b];
            }
            return [255, 255, 255];
          };
          let texts = 0;
          for (const element of document.querySelectorAll("body *")) {
            if (![...element.childNodes].some(node => node.nodeType == 3 && node.data.trim())) continue;
            if (element.closest("title, desc, noscript")) continue;
            const style = getComputedStyle(element);
            const [low, high] = [light(numbers(element.closest("svg") ? style.fill : style.color)), light(ground(element))].sort((x, y) => x - y);
            texts += 1;
            must((high + 0.05) / (low + 0.05) >= 4.5, "a text that stands out: " + element.textContent.slice(0, 40));
          }
          must(texts > 3, "texts");
          return faults;
        })()
        """

    @Test(
        "every page fits 320 px and a desk, stands out in both themes, obeys no name, and breaks no policy of its own")
    func everywhere() throws {
        for path in paths {
            for (width, scheme) in [(320, Chromium.Scheme.light), (1280, .dark)] {
                try browser.choose(width: width, scheme)
                try browser.open(address(path))
                let faults = try browser.evaluate(Self.inspection) as? [String]
                #expect(faults == [], "\(path) at \(width), \(scheme)")
            }
        }
        // The one complaint is about the page that is not there.
        #expect(browser.complaints.filter { !$0.contains("404") } == [])
    }

    @Test("the inspection sees what is wrong, and the policy stops what would run") func inspectionWorks() throws {
        try browser.choose(width: 320)
        try browser.open(address("/app/shop"))
        try browser.evaluate(
            """
            document.querySelector("h1").outerHTML = "<h3 style='color:#ccc'><a href='https://x.example'>wide" + "x".repeat(200) + "</a></h3>";
            document.querySelector("table caption").remove();
            document.body.insertAdjacentHTML("beforeend", "<img src=x onerror='window.obeyed=1'><p>" + "W".repeat(900) + "</p>"); 0
            """)
        let faults = Set((try browser.evaluate(Self.inspection) as? [String] ?? []).map { $0.prefix(12) })
        #expect(faults.isSuperset(of: ["its landmark", "a table's ca", "no style or ", "links to thi"]), "\(faults)")
        #expect(try browser.evaluate("window.obeyed") is NSNull)
        #expect(browser.waits(for: "true") && browser.complaints.contains { $0.contains("Content Security Policy") })
    }

    @Test("screen readers are told what everything is; the keyboard finds a way past the head") func roles() throws {
        try browser.choose(width: 1280)
        try browser.open(address("/app/shop"))
        let roles = try browser.roles()
        func names(_ role: String) -> [String] { roles.filter { $0.role == role }.map(\.name) }
        #expect(names("main").count == 1 && names("banner").count == 1 && names("navigation") == ["Pages"])
        #expect(names("form") == ["Days"] && names("heading").prefix(2) == ["shop", "What to do"])
        #expect(
            Set(["Deliveries", "Response rate", "Engagement rate", "Receipt coverage"]).isSubset(
                of: Set(names("image").map { $0.components(separatedBy: " From ")[0] })), "\(names("image"))")
        #expect(names("table").contains { $0.hasPrefix("Categories") } && names("columnheader").contains("Engagement"))
        #expect(names("link").contains("SALE") && names("link").contains { $0.hasPrefix("CSV of: ") })
        try browser.ask(
            "Input.dispatchKeyEvent", ["type": "keyDown", "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9])
        #expect(try browser.evaluate("document.activeElement.textContent") as? String == "Skip to the page")
        #expect(try browser.evaluate("getComputedStyle(document.activeElement).outlineStyle") as? String != "none")
    }

    @Test("without scripts all is there: figures, charts, links, and Live reads itself anew") func withoutScripts()
        throws
    {
        try browser.choose(width: 1280)
        try browser.letScripts(false)
        try browser.open(address("/app/shop"))
        #expect(try browser.evaluate("document.querySelectorAll('.chart').length") as? Int == 4)
        #expect(try browser.evaluate("document.querySelectorAll('.copy').length") as? Int == 0)
        try browser.open(address("/app/shop/live"))
        #expect(try browser.evaluate("document.querySelector('meta[http-equiv=refresh]') != null") as? Bool == true)
        #expect(try browser.evaluate("document.querySelectorAll('#live li').length") as? Int ?? 0 > 20)
        try browser.letScripts(true)
    }

    @Test("on A4 paper a page is as wide as the paper, and what only a screen needs is gone") func paper() throws {
        try browser.choose(width: 718, media: "print")
        for path in ["/app/shop", "/app/shop/category?category=SALE"] {
            try browser.open(address(path))
            #expect(try browser.evaluate("document.documentElement.scrollWidth <= 718") as? Bool == true, "\(path)")
            let shown =
                "[...document.querySelectorAll('nav, .days, .source, .skip')].filter(e => e.getClientRects().length).length"
            #expect(try browser.evaluate(shown) as? Int == 0)
        }
    }

    @Test(
        "sign in, choose days, open a category, follow to the deliveries; the SQL that is shown gives the same in psql")
    func walk() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp("shop")
        try LookedAt.fill(database, app, today: shop.today, now: shop.now)
        var owner = try database.connect()
        let secret = try ReaderKeys.add(name: "growth", on: &owner).secret
        let look = try LookedAt.open(database)
        defer { look.stop(deadline: .now) }
        try browser.choose(width: 1280)
        try browser.open(address("/app/shop", look))
        #expect(try browser.evaluate("location.pathname") as? String == "/sign-in")
        try browser.go(
            "document.querySelector('[name=key]').value = '\(secret)'; document.querySelector('button').click()")
        #expect(try browser.evaluate("location.pathname") as? String == "/app/shop")
        #expect(try browser.evaluate("document.cookie") as? String == "", "no script reads the cookie")
        let day = "\(shop.today.advanced(by: -2))"
        try browser.go(
            "for (const name of ['from', 'to']) document.querySelector(`[name=${name}]`).value = '\(day)'; document.querySelector('.days button').click()"
        )
        #expect(
            (try browser.evaluate("location.search") as? String)?.hasPrefix("?from=\(day)&to=\(day)&with=") == true)
        try browser.go("[...document.querySelectorAll('a')].find(a => a.textContent == 'MANY').click()")
        #expect(try browser.evaluate("document.querySelector('h1').textContent") as? String == "MANY")
        try browser.go(
            "[...document.querySelectorAll('table a')].find(a => a.textContent == '\(LookedAt.many)').click()")
        #expect(try browser.evaluate("document.querySelector('h1').textContent") as? String == "Deliveries")
        #expect(try browser.evaluate("document.querySelectorAll('main tbody tr').length") as? Int == 100)
        let sql = try #require(try browser.evaluate("document.querySelector('.sql pre').textContent") as? String)
        let shown = try browser.evaluate(
            "[...document.querySelectorAll('main tbody th a')].map(link => new URL(link.href).searchParams.get('install')).join('\\n')"
        )
        let ran = try ChildProcess.run(
            ["psql", "-XAtq", try database.url(as: TestPostgres.analyst)], environment: [:],
            input: "SELECT install_id FROM (\(sql)) AS t")
        #expect(ran.output == "\(shown)\n", "\(ran.messages)")
        try browser.go("[...document.querySelectorAll('a')].find(a => a.textContent == 'Next 100').click()")
        #expect(try browser.evaluate("document.querySelectorAll('main tbody tr').length") as? Int == 100)
        try browser.go("document.querySelector('.out button').click()")
        #expect(try browser.evaluate("location.pathname") as? String == "/sign-in")
    }

    @Test("an event that is posted comes to the Live page by itself, as text") func live() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp("shop")
        let look = try LookedAt.open(database)
        defer { look.stop(deadline: .now) }
        try browser.choose(width: 390)
        try browser.open(address("/app/shop/live", look))
        let appender = try database.appender()
        let now = WallClock.now
        for place in 1...3 {
            let name = place == 2 ? HostileNames.all[1] : "ORDINARY-\(place)"
            let event = Event.sample(at: now, receivedAt: now, category: name, interaction: .dismissed)
            _ = try appender.append([app.submission([event], receivedAt: now)])
            #expect(browser.waits(for: "document.querySelectorAll('#live li').length == \(place)"))
        }
        #expect(try browser.evaluate("window.obeyed") is NSNull)
        #expect(try browser.evaluate("document.querySelectorAll('#live li img, #live li script').length") as? Int == 0)
        #expect(browser.complaints == [])
        // What comes while its session is away is shown once it is back.
        var administrator = try database.administrator()
        try administrator.query(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND application_name LIKE '%look live%'
            """)
        let event = Event.sample(at: now, receivedAt: now, category: "LATER", interaction: .dismissed)
        _ = try appender.append([app.submission([event], receivedAt: now)])
        #expect(browser.waits(for: "document.querySelectorAll('#live li').length == 4"))
    }
}

/// Pictures of each page, for people to look at: `make screenshots`.
@Suite("Pictures of the pages") struct ScreenshotTests {
    private static let directory = ProcessInfo.processInfo.environment["BELLWETHER_SCREENSHOTS"]

    @Test("each page, in both themes, on a phone and on a desk", .enabled(if: directory != nil)) func pictures() throws
    {
        let directory = try #require(Self.directory)
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let data = TemporaryDirectory()
        let bellwether = Bellwether(data: data.path)
        _ = try bellwether.trusted("demo", "--data", data.path, "--installs", "600")
        let process = try bellwether.start(["look", "--listen", "127.0.0.1:0"])
        #expect(eventually { process.messages.contains("\"looking\"") })
        let port = try #require(process.messages.firstMatch(of: /"looking","address":"127.0.0.1:([0-9]+)"/)).1
        let browser = try Chromium()
        let pages = [
            ("overview", "/"), ("app", "/app/lotus-shop"), ("category", "/app/lotus-shop/category?category=FLASH_SALE"),
            ("categories", "/app/lotus-shop/category"),
            ("pressure", "/app/lotus-shop/category?category=FLASH_SALE&table=pressure"),
            ("goals", "/app/lotus-shop/goal"), ("goal", "/app/lotus-shop/goal?goal=purchase"),
            ("versions", "/app/lotus-shop/versions"), ("stories", "/app/lotus-shop/story"),
            ("story", "/app/aurora-news/story?campaign=wochenschau"),
            ("campaigns", "/app/lotus-shop/campaign"), ("campaign", "/app/lotus-shop/campaign?campaign=flash-11.11"),
            ("installs", "/app/aurora-news/installs"), ("live", "/app/lotus-shop/live"),
            ("quality", "/app/lotus-shop/quality"),
            ("reports", "/app/lotus-shop/reports"), ("deliveries", "/app/lotus-shop/deliveries"),
            ("missing", "/app/nobody"),
        ]
        for (name, path) in pages {
            for scheme in Chromium.Scheme.allCases {
                for width in [390, 1280] {
                    try browser.choose(width: width, scheme)
                    try browser.open("http://127.0.0.1:\(port)\(path)")
                    try browser.screenshot(to: "\(directory)/\(name)-\(width)-\(scheme).png")
                }
            }
        }
        // What the README shows.
        for (name, path, scheme) in [("summary", pages[1].1, Chromium.Scheme.light), ("category", pages[2].1, .dark)] {
            try browser.choose(width: 1100, height: 900, scheme)
            try browser.open("http://127.0.0.1:\(port)\(path)")
            if name == "summary" { try browser.evaluate("document.getElementById('part-1').scrollIntoView(); 0") }
            try browser.screenshot(to: "\(directory)/readme-\(name).png", whole: false)
        }
        process.signal(SIGTERM)
        _ = try process.wait(within: 60)
    }
}

extension BrowserTests {
    @Test("a name is found while somebody types, and the address follows; without scripts the button does the same")
    func found() throws {
        let rows = "[...document.querySelectorAll('main tbody th')].map(cell => cell.textContent.trim()).join()"
        try browser.choose(width: 390)
        try browser.open(address("/app/shop/category"))
        #expect((try browser.evaluate(rows) as? String)?.contains("SALE") == true)
        try browser.evaluate(
            """
            const field = document.querySelector('[name=search]');
            field.value = 'maN'; field.dispatchEvent(new Event('input', {bubbles: true})); 0
            """)
        #expect(browser.waits(for: "\(rows) == 'MANY'"))
        #expect(try browser.evaluate("new URLSearchParams(location.search).get('search')") as? String == "maN")
        #expect(
            try browser.evaluate("document.activeElement != null && document.querySelectorAll('.sql .copy').length")
                as? Int == 1)
        #expect(try browser.evaluate("document.querySelector('.exactly .copy').textContent") as? String == "Copy link")
        #expect(
            (try browser.evaluate("document.querySelector('.exactly a').href") as? String)?.contains("search=maN")
                == true)
        try browser.letScripts(false)
        defer { try? browser.letScripts(true) }
        try browser.open(address("/app/shop/category"))
        try browser.go(
            "document.querySelector('[name=search]').value = 'maN'; document.querySelector('form[role=search] button').click()"
        )
        #expect(try browser.evaluate(rows) as? String == "MANY")
    }

    @Test("a rejected event's detail is read at a glance, at a desk and on a phone") func detail() throws {
        let long =
            "events[0].action_id: is required, and must be neither null nor empty, unless the type says otherwise"
        let newest = "id = (SELECT max(id) FROM log.rejected)"
        let before: [String] = try shop.database.column("SELECT detail FROM log.rejected ORDER BY id DESC LIMIT 1")
        try shop.database.run("UPDATE log.rejected SET detail = '\(long)' WHERE \(newest)")
        defer {
            try? shop.database.run(
                "UPDATE log.rejected SET detail = '\(before.first ?? "")' WHERE \(newest)")
        }
        for (width, most) in [(1280, 2), (390, 7)] {
            try browser.choose(width: width)
            try browser.open(address("/app/shop/quality"))
            let seen =
                try browser.evaluate(
                    """
                    (() => {
                      const cell = [...document.querySelectorAll("td.prose bdi")].find(text => text.textContent.startsWith("events[0]"));
                      const box = cell.closest(".scroll").getBoundingClientRect(), at = cell.getBoundingClientRect();
                      const lines = at.height / parseFloat(getComputedStyle(cell).lineHeight);
                      return [Math.round(lines), at.right <= box.right + 1 ? 1 : 0, Math.round(at.right - box.right)];
                    })()
                    """) as? [Int]
            #expect(seen?[0] ?? .max <= most && seen?[1] == 1, "\(width): \(seen ?? [])")
        }
    }
}
