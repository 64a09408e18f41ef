import HTTPServer
import TestSupport
import Testing

@testable import Look

@Suite("Which site makes a browser ask") struct ProvenanceTests {
    private let shop: LookedAt

    init() throws { shop = try LookedAt.get() }

    private static let image = [
        "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image",
    ]
    private static let link = [
        "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document",
    ]

    private static let foreign: [[String: String]] = [
        image, image.merging(["Sec-Fetch-Site": "same-site"]) { $1 },
        link.merging(["Sec-Fetch-Dest": "iframe"]) { $1 }, link.merging(["Sec-Fetch-Mode": "cors"]) { $1 },
        // Browsers that say less.
        ["Origin": "http://evil.example"], ["Origin": "null"],
        ["Referer": "http://evil.example/page", "Accept": "*/*"],
        ["Referer": "https://evil.example", "Accept": "image/avif,*/*"],
    ]

    @Test("a part of another site's page is refused before anything is asked of the database", arguments: Self.foreign)
    func embedded(headers: [String: String]) throws {
        for path in ["/", "/app/shop?from=2026-01-01&to=2026-01-02", "/app/shop/live/events", "/cancel?page=1"] {
            let answer = try shop.client.get(path, headers: headers)
            #expect(answer.status == 403 && answer.body.contains("Not from here"), "\(path) \(headers)")
        }
    }

    @Test(
        "a link on another site opens a page that asks before it reads; its link is the page, and nothing else",
        arguments: [
            Self.link, Self.link.merging(["Sec-Fetch-Site": "same-site"]) { $1 },
            ["Referer": "https://chat.example/room", "Accept": "text/html,*/*"],
        ])
    func followed(headers: [String: String]) throws {
        let asked = try shop.client.get("/app/shop/category?category=SALE", headers: headers)
        #expect(asked.status == 200 && asked.body.contains("href=\"/app/shop/category?category=SALE\""))
        #expect(!asked.body.contains("http-equiv=\"refresh\"") && !asked.body.contains("<table"))
        let elsewhere = try shop.client.get("//evil.example/", headers: headers)
        #expect(!elsewhere.body.contains("href=\"//evil"))
        // Following it is a request of our own page.
        let own = ["Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"]
        let page = try shop.client.get("/app/shop/category?category=SALE", headers: own)
        #expect(page.status == 200 && page.body.contains("<table"))
        for typed in [["Sec-Fetch-Site": "none"], [:], ["Referer": "http://bellwether/app/shop"]] {
            #expect(try shop.client.get("/app/shop", headers: typed).status == 200, "\(typed)")
        }
    }

    @Test("signing out is a form of ours: no link and no other site does it") func signingOut() throws {
        let client = shop.client
        let form = ["Content-Type": "application/x-www-form-urlencoded"]
        #expect(try client.get("/sign-out")["set-cookie"] == nil)
        #expect(try client.get("/sign-out").status == 405)
        for headers in [Self.image, ["Origin": "https://evil.example"], ["Sec-Fetch-Site": "cross-site"]] {
            let answer = try client.send("POST", "/sign-out", headers: form.merging(headers) { $1 }, body: [])
            #expect(answer.status == 403 && answer["set-cookie"] == nil)
        }
        let ours = form.merging(["Origin": "http://bellwether"]) { $1 }
        let own = try client.send("POST", "/sign-out", headers: ours, body: [])
        #expect(own.status == 303 && own["set-cookie"]?.contains("Max-Age=0") == true)
    }
}
