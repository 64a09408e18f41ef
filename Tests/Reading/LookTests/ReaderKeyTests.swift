import Accounts
import Foundation
import HTTPServer
import Postgres
import ServiceRuntime
import TestSupport
import Testing
import Values

@testable import Look

@Suite("Who may look") struct ReaderKeyTests {
    private static let now = Timestamp(microseconds: 1_795_167_010_000_000)
    private static func key(_ name: String, _ secret: String = "s") -> ReaderKey.Access {
        ReaderKey.Access(name: name, hash: SHA256(of: secret.utf8))
    }

    @Test(
        "a cookie says who signed in, for twelve hours, as long as the key is open; nobody can write one without the key's hash"
    )
    func sessions() throws {
        for name in ["growth", "a: b=c;d", "สวัสดี"] {
            let key = Self.key(name)
            let cookie = "\(Session.cookie)=\(Session(of: name, at: Self.now).sealed(with: key))"
            let later = Self.now + 11 * 3_600_000_000
            #expect(Session("other=1; " + cookie, keys: [Self.key("x", "y"), key], at: later)?.reader == name)
            #expect(Session(cookie, keys: [key], at: Self.now + 13 * 3_600_000_000) == nil)
            #expect(Session(cookie, keys: [], at: later) == nil)
            #expect(Session(cookie, keys: [Self.key(name, "another secret")], at: later) == nil)
            // Longer than anybody was given, or for somebody else.
            let parts = cookie.split(separator: ":")
            let expiry = try #require(Int64(parts[parts.count - 2]))
            #expect(
                Session(cookie.replacingOccurrences(of: "\(expiry)", with: "\(expiry + 60)"), keys: [key], at: later)
                    == nil)
        }
        for forged in ["", "\(Session.cookie)=", "\(Session.cookie)=a:b:c", "\(Session.cookie)=growth:99999999999:00"] {
            #expect(Session(forged, keys: [Self.key("growth")], at: Self.now) == nil)
        }
    }

    @Test("one address may try some wrong keys, all together more, and what is remembered is bounded") func guesses() {
        let limit = GuessLimit(ofAddress: 3, ofAll: 50, seconds: 600, mostAddresses: 8)
        for _ in 0..<3 {
            #expect(limit.take("192.0.2.1"))
        }
        #expect(!limit.take("192.0.2.1") && limit.take("192.0.2.2"))
        limit.forgive("192.0.2.1")
        #expect(limit.take("192.0.2.1") && !limit.take("192.0.2.1"), "a right key counts for nothing")
        // All addresses of a network of somebody's own.
        for place in 0..<3 { #expect(limit.take("2001:db8:1:2:3:4:5:\(place)")) }
        #expect(!limit.take("2001:db8:1:2:9:9:9:9") && limit.take("2001:db8:1:3::1"))
        for place in 0..<3 { #expect(limit.take("2001:db8::\(place)")) }
        #expect(!limit.take("2001:db8::9") && !limit.take("2001:db8:0:0:1::"), "however short it is written")
        for place in 0..<60 { _ = limit.take("198.51.100.\(place)") }
        #expect(!limit.take("203.0.113.1"), "all together")
        let brief = GuessLimit(ofAddress: 1, ofAll: 10, seconds: 0)
        #expect(brief.take("192.0.2.1") && brief.take("192.0.2.1"), "the time is over")
    }

    @Test("after signing in, one goes on to a page of ours and to nothing else") func inside() {
        for address in ["/", "/app/shop/category?category=a%20b", "/app/shop?from=2026-11-20&to=2026-11-21"] {
            #expect(SignIn.inside(address) == address)
        }
        for address in [
            nil, "", "https://evil.example/", "//evil.example", "///evil.example/", "/\\evil.example", "/a b",
            "/a\r\nSet-Cookie: x", "/sign-out", "/./sign-out", "/app/../sign-out", "/%73ign-out", "/sign-out?a=b",
            "/app/shop/../../sign-out", "/sign-in?next=/", "/cancel?page=1", "/app/shop?x=y", "/app//evil.example",
            "javascript:alert(1)", "/app/shop/live/events", String(repeating: "/", count: 9000),
        ] {
            #expect(SignIn.inside(address) == "/")
        }
    }

    /// A database of its own, since keys close the pages for all.
    private static func withPages(_ body: (TestDatabase, Look) throws -> Void) throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        _ = try database.makeApp("shop")
        let look = try LookedAt.open(database)
        defer { look.stop(deadline: .now) }
        try body(database, look)
    }

    private static func signIn(_ look: Look, _ key: String, headers: [String: String] = [:]) throws -> RawClient.Answer
    {
        try HTTPClient(look).send(
            "POST", "/sign-in",
            headers: ["Content-Type": "application/x-www-form-urlencoded"].merging(headers) { $1 },
            body: Array("next=%2Fapp%2Fshop&key=\(key)".utf8))
    }

    @Test(
        "once there is a key, pages are for those who sign in with it, until it is revoked; then not even for this machine"
    )
    func signingIn() throws {
        try Self.withPages { database, look in
            let client = HTTPClient(look)
            #expect(try client.get("/").status == 200)
            var owner = try database.connect()
            let secret = try ReaderKeys.add(name: "growth", on: &owner).secret
            _ = try ReaderKeys.add(name: "others", on: &owner)
            #expect(try eventually { try client.get("/app/shop").status == 303 })
            let turned = try client.get("/app/shop?from=2026-11-20&to=2026-11-21")
            #expect(turned["location"] == "/sign-in?next=%2Fapp%2Fshop%3Ffrom%3D2026-11-20%26to%3D2026-11-21")
            #expect(try client.get("/app/shop/live/events").status == 401)
            #expect(try client.get("/sign-in").body.contains("type=\"password\""))
            // A stranger's guess, and a form of another site.
            let wrong = try Self.signIn(look, "bwr_wrong")
            #expect(wrong.status == 403 && wrong["set-cookie"] == nil && wrong.body.contains("opens nothing"))
            #expect(try Self.signIn(look, secret, headers: ["Origin": "https://evil.example"]).status == 403)
            #expect(try Self.signIn(look, secret, headers: ["Sec-Fetch-Site": "cross-site"]).status == 403)

            let right = try Self.signIn(look, secret, headers: ["Origin": "http://bellwether"])
            let cookie = try #require(right["set-cookie"])
            #expect(right.status == 303 && right["location"] == "/app/shop")
            for word in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200"] {
                #expect(cookie.contains("; \(word)"))
            }
            #expect(!cookie.contains("Secure") && !cookie.contains(secret))
            #expect(
                try Self.signIn(look, secret, headers: ["X-Forwarded-Proto": "https"])["set-cookie"]?.hasSuffix(
                    "; Secure") == true)
            let mine = ["Cookie": String(cookie.prefix { $0 != ";" })]
            let page = try client.get("/app/shop", headers: mine)
            #expect(page.status == 200 && page.body.contains("Sign out"))
            // Another process with the same database knows it, too.
            let other = try LookedAt.open(database)
            defer { other.stop(deadline: .now) }
            #expect(try eventually { try HTTPClient(other).get("/app/shop", headers: mine).status == 200 })
            for name in ["growth", "others"] { try ReaderKeys.revoke(name: name, on: &owner) }
            #expect(try eventually { try client.get("/app/shop", headers: mine).status == 403 })
            #expect(try client.get("/").body.contains("look key add"), "the last key is gone, and it is not open again")
            let stored: [String] = try database.column("SELECT string_agg(t::text, '') FROM log.reader_key AS t")
            #expect(!stored.joined().contains(secret))
        }
    }

    @Test("a new key opens the pages at once, also where others were read before") func newKeys() throws {
        try Self.withPages { database, look in
            var owner = try database.connect()
            _ = try ReaderKeys.add(name: "first", on: &owner)
            #expect(try eventually { try HTTPClient(look).get("/").status == 303 })
            // More than may be wrong: none of these counts as a guess.
            for number in 0..<12 {
                let secret = try ReaderKeys.add(name: "key \(number)", on: &owner).secret
                let shown = try HTTPClient(look).get("/", headers: ["Authorization": "Bearer \(secret)"])
                #expect(shown.status == 200, "key \(number)")
                let other = try ReaderKeys.add(name: "form \(number)", on: &owner).secret
                #expect(try Self.signIn(look, other).status == 303, "key \(number)")
            }
            #expect(try HTTPClient(look).get("/", headers: ["Authorization": "Bearer bwr_wrong"]).status == 401)
        }
    }

    @Test("who tries many wrong keys has to wait") func limited() throws {
        try Self.withPages { database, look in
            var owner = try database.connect()
            let secret = try ReaderKeys.add(name: "growth", on: &owner).secret
            #expect(try eventually { try HTTPClient(look).get("/").status == 303 })
            for _ in 0..<10 { #expect(try Self.signIn(look, "bwr_wrong").status == 403) }
            let answer = try Self.signIn(look, secret)
            #expect(answer.status == 429 && answer["retry-after"] == "60" && answer["set-cookie"] == nil)
        }
    }

    @Test("pages that other machines reach need a key from the start, and a login that may read the keys") func doors()
        throws
    {
        let database = try TestDatabase.make()
        defer { database.drop() }
        func open() throws {
            let look = try LookedAt.open(database) { $0.server.listen = .tcp(host: "0.0.0.0", port: 0) }
            look.stop(deadline: .now)
        }
        let refusal = #expect(throws: Look.Refusal.self) { try open() }
        #expect(refusal?.description.contains("look key add NAME") == true)
        var owner = try database.connect()
        _ = try ReaderKeys.add(name: "growth", on: &owner)
        try open()
        let stranger = try database.url(as: TestPostgres.analyst)
        let unable = #expect(throws: Look.Refusal.self) { _ = try LookedAt.open(database) { $0.keysURL = stranger } }
        #expect(unable?.description.contains("GRANT bellwether_look") == true)
    }

    @Test("a key is named once, and says why not") func names() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var owner = try database.connect()
        let (key, secret) = try ReaderKeys.add(name: "growth", on: &owner)
        #expect(key.name == "growth" && secret.wholeMatch(of: /bwr_[A-Za-z0-9_-]{43}/) != nil)
        func fault(_ body: () throws -> Void) -> String {
            (#expect(throws: ReaderKeyError.self) { try body() })?.description ?? ""
        }
        #expect(fault { _ = try ReaderKeys.add(name: "growth", on: &owner) }.contains("choose another"))
        #expect(fault { _ = try ReaderKeys.add(name: "a\nb", on: &owner) }.contains("printable"))
        #expect(fault { try ReaderKeys.revoke(name: "nobody", on: &owner) }.contains("look key list"))
        try ReaderKeys.revoke(name: "growth", on: &owner)
        #expect(fault { try ReaderKeys.revoke(name: "growth", on: &owner) }.contains("already"))
        #expect(try ReaderKeys.list(on: &owner).map(\.name) == ["growth"] && ReaderKeys.open(on: &owner).isEmpty)
    }
}
