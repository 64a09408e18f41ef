import Accounts
import Postgres
import ServiceRuntime
import TestSupport
import Testing

@Suite("Apps and their keys")
struct EventLogAppTests {
    private func refusal(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "nothing was refused"
        } catch { return (error as? AppError)?.description ?? "another error: \(error)" }
    }

    @Test("an app has its slug, zone and limit, and the list is by slug")
    func apps() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var connection = try database.connect()
        let chat = try Apps.create(slug: "chat", timeZone: "Asia/Bangkok", on: &connection)
        #expect(chat.slug == "chat" && chat.timeZone == "Asia/Bangkok" && chat.rateLimit == nil)
        _ = try Apps.create(slug: "alpha-2_x", timeZone: "UTC", on: &connection)
        #expect(try Apps.list(on: &connection).map(\.slug) == ["alpha-2_x", "chat"])
        #expect(try Apps.named("chat", on: &connection) == chat)
        try Apps.set(rateLimit: RateLimit(eventsPerSecond: 12.5, burst: 100), of: "chat", on: &connection)
        try Apps.set(timeZone: "Europe/Berlin", of: "chat", on: &connection)
        let changed = try Apps.named("chat", on: &connection)
        #expect(
            changed.rateLimit == RateLimit(eventsPerSecond: 12.5, burst: 100) && changed.timeZone == "Europe/Berlin")
        #expect(changed.id == chat.id)
        try Apps.set(rateLimit: nil, of: "chat", on: &connection)
        #expect(try Apps.named("chat", on: &connection).rateLimit == nil)
    }

    @Test("a slug that is none is refused before the database sees it")
    func invalidSlugs() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var connection = try database.connect()
        for slug in [
            "", "Chat", "-chat", "_chat", "ch at", "chät", "a\u{301}", "chat\n", "chat\0", "a/b", "chat;--",
            "\u{ff43}hat", String(repeating: "a", count: 64),
        ] {
            let error = #expect(throws: AppError.self) {
                _ = try Apps.create(slug: slug, timeZone: "UTC", on: &connection)
            }
            guard case .invalidSlug(slug) = error else {
                Issue.record("\(slug): \(String(describing: error))")
                continue
            }
        }
        #expect(try Apps.list(on: &connection).isEmpty)
    }

    @Test("the shortest and the longest slug are taken")
    func slugs() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var connection = try database.connect()
        for slug in ["a", "0", String(repeating: "z", count: 63)] {
            #expect(try Apps.create(slug: slug, timeZone: "UTC", on: &connection).slug == slug)
        }
    }

    @Test("a zone that PostgreSQL does not know by that name is refused")
    func zones() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var connection = try database.connect()
        _ = try Apps.create(slug: "chat", timeZone: "UTC", on: &connection)
        for zone in ["Mars/Olympus", "europe/berlin", "", "+07", "UTC+3", "posix/Europe/Berlin", "'; SELECT 1"] {
            let expected =
                "'\(zone)' is not a time zone that PostgreSQL knows: use an IANA name such as Europe/Berlin or Asia/Bangkok"
            #expect(refusal { _ = try Apps.create(slug: "other", timeZone: zone, on: &connection) } == expected)
            #expect(refusal { try Apps.set(timeZone: zone, of: "chat", on: &connection) } == expected)
        }
        #expect(try Apps.list(on: &connection).map(\.timeZone) == ["UTC"])
    }

    @Test("what is there already, and what is not there at all, is said in words")
    func refusals() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var connection = try database.connect()
        _ = try Apps.create(slug: "chat", timeZone: "UTC", on: &connection)
        _ = try APIKeys.add(to: "chat", kind: .write, name: "ios", on: &connection)
        #expect(
            refusal { _ = try Apps.create(slug: "chat", timeZone: "UTC", on: &connection) }
                == "app 'chat' already exists")
        let unknown = "no app 'none': see bellwether app list"
        #expect(refusal { _ = try Apps.named("none", on: &connection) } == unknown)
        #expect(refusal { try Apps.set(rateLimit: nil, of: "none", on: &connection) } == unknown)
        #expect(refusal { try Apps.set(timeZone: "UTC", of: "none", on: &connection) } == unknown)
        #expect(refusal { _ = try APIKeys.add(to: "none", kind: .write, name: nil, on: &connection) } == unknown)
        #expect(refusal { _ = try APIKeys.list(of: "none", on: &connection) } == unknown)
        #expect(refusal { try APIKeys.revoke(name: "ios", of: "none", on: &connection) } == unknown)
        #expect(
            refusal { _ = try APIKeys.add(to: "chat", kind: .write, name: "ios", on: &connection) }
                == "app 'chat' already has a key 'ios': choose another name")
        #expect(
            refusal { try APIKeys.revoke(name: "web", of: "chat", on: &connection) }
                == "app 'chat' has no key 'web': see bellwether app list")
        try APIKeys.revoke(name: "ios", of: "chat", on: &connection)
        #expect(
            refusal { try APIKeys.revoke(name: "ios", of: "chat", on: &connection) }
                == "key 'ios' of app 'chat' has already been revoked")
    }

    @Test("of those who make the same app at once one does")
    func together() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let made = Lock(0)
        try TestSupport.together(4) { _ in
            var connection = try database.connect()
            do {
                _ = try Apps.create(slug: "chat", timeZone: "UTC", on: &connection)
                made.withLock { $0 += 1 }
            } catch {
                guard case .exists = error as? AppError else { throw error }
            }
        }
        #expect(made.withLock { $0 } == 1)
    }

    @Test("keys without a name get the next free one, also when many are made at once")
    func names() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var connection = try database.connect()
        _ = try Apps.create(slug: "chat", timeZone: "UTC", on: &connection)
        try TestSupport.together(4) { _ in
            var connection = try database.connect()
            _ = try APIKeys.add(to: "chat", kind: .write, name: nil, on: &connection)
        }
        _ = try APIKeys.add(to: "chat", kind: .server, name: nil, on: &connection)
        let keys = try APIKeys.list(of: "chat", on: &connection)
        #expect(keys.map(\.name).sorted() == ["server", "write", "write-2", "write-3", "write-4"])
        #expect(keys.map(\.kind).filter { $0 == .server }.count == 1)
        #expect(keys.map(\.id) == keys.map(\.id).sorted())
        #expect(keys.allSatisfy { $0.revokedAt == nil })
    }

    @Test("a key's name is 1 to 64 printable characters")
    func invalidNames() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var connection = try database.connect()
        _ = try Apps.create(slug: "chat", timeZone: "UTC", on: &connection)
        for name in ["", "a\nb", "\u{1b}[31m", "\0", "a\u{202E}b", "a\u{200B}", String(repeating: "x", count: 65)] {
            let error = #expect(throws: AppError.self) {
                _ = try APIKeys.add(to: "chat", kind: .write, name: name, on: &connection)
            }
            guard case .invalidKeyName = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            let controls = error?.description.unicodeScalars.filter { $0.properties.generalCategory == .control }
            #expect(controls?.isEmpty == true)
        }
        let fine = String(repeating: "ก", count: 64)
        #expect(try APIKeys.add(to: "chat", kind: .write, name: fine, on: &connection).key.name == fine)
    }

    @Test("a secret is seen once, says what it opens, and only its hash is stored")
    func secrets() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var connection = try database.connect()
        _ = try Apps.create(slug: "chat", timeZone: "UTC", on: &connection)
        var secrets: Set<String> = []
        for kind in [APIKey.Kind.write, .write, .server] {
            let (key, secret) = try APIKeys.add(to: "chat", kind: kind, name: nil, on: &connection)
            #expect(secret.wholeMatch(of: /bw[ws]_[A-Za-z0-9_-]{43}/) != nil)
            #expect(secret.hasPrefix(kind == .write ? "bww_" : "bws_"))
            secrets.insert(secret)
            let hash: Bytea = try connection.query("SELECT hash FROM log.api_key WHERE id = \(key.id)")[0].get(0)
            #expect(hash.bytes == SHA256(of: secret.utf8).bytes)
            #expect(
                try connection.query(
                    "SELECT encode(sha256(convert_to(\(secret), 'UTF8')), 'hex') = encode(\(hash), 'hex')")[0].get(0)
                    == true)
            let leaks = try connection.query("SELECT FROM log.api_key AS k WHERE k::text LIKE '%' || \(secret) || '%'")
            #expect(leaks.isEmpty)
        }
        #expect(secrets.count == 3)
    }

    @Test("what a key opens is found by its hash, for the role that ingests, revoked ones as such")
    func access() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let (chat, shop) = (try database.makeApp("chat"), try database.makeApp("shop"))
        var owner = try database.connect()
        let (server, secret) = try APIKeys.add(to: "shop", kind: .server, name: "back end", on: &owner)
        try Apps.set(rateLimit: RateLimit(eventsPerSecond: 5, burst: 9), of: "shop", on: &owner)
        try APIKeys.revoke(name: "write", of: "chat", on: &owner)
        var connection = try database.session(.ingest)
        let found = try Access.find(
            [SHA256(of: chat.secret.utf8), SHA256(of: secret.utf8), SHA256(of: "bww_unknown".utf8)], on: &connection)
        #expect(found.count == 2)
        let first = try #require(found.first { $0.app == chat.app.id })
        #expect(
            first.isRevoked && first.key == chat.key.id && first.slug == "chat" && first.kind == .write
                && first.rateLimit == nil)
        #expect(first.hash == SHA256(of: chat.secret.utf8))
        let second = try #require(found.first { $0.app == shop.app.id })
        #expect(!second.isRevoked && second.key == server.id && second.kind == .server)
        #expect(second.rateLimit == RateLimit(eventsPerSecond: 5, burst: 9))
        #expect(try Access.find([], on: &connection).isEmpty)
        #expect(try Access.all(on: &connection).map(\.key).sorted() == [chat.key.id, shop.key.id, server.id].sorted())
        #expect(try APIKeys.list(of: "chat", on: &owner)[0].revokedAt != nil)
    }

    @Test("digests are equal where all their bits are, and are those of the standard")
    func digests() {
        let abc = SHA256(of: "abc".utf8)
        #expect(
            abc.bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(abc.equalsInConstantTime(SHA256(of: Array("abc".utf8))))
        var other = abc.bytes
        other[31] ^= 1
        #expect(SHA256(stored: other).map(abc.equalsInConstantTime) == false)
        #expect(SHA256(stored: Array(abc.bytes.dropLast())) == nil)
    }
}
