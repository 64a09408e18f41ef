internal import Accounts
internal import Values

/// That somebody signed in with a key, as a cookie says it. Nothing of it is stored here: any process that knows the
/// key's hash can tell, and once the key is revoked none can.
struct Session: Sendable, Equatable {
    let reader: String
    /// The apps that the key reads; nil for all.
    let apps: [String]?
    /// In seconds since 1970.
    let expires: Int64

    /// How long somebody stays signed in.
    static let seconds: Int64 = 12 * 3600
    static let cookie = "bellwether_look"
    /// Where one signs out.
    static let endPath = "/sign-out"

    init(of reader: String, at now: Timestamp) {
        (self.reader, apps, expires) = (reader, nil, now.microseconds / 1_000_000 + Self.seconds)
    }

    /// What the cookie holds.
    func sealed(with key: ReaderKey.Access) -> String {
        let said = "\(PercentText.encoded(reader)):\(expires)"
        return said + ":" + Self.seal(of: said, key.hash)
    }

    /// The session that the header field `Cookie` tells of; nil if it is none, is over, or its key opens nothing any
    /// more.
    init?(_ header: String?, keys: [ReaderKey.Access], at now: Timestamp) {
        for pair in (header ?? "").split(separator: ";") {
            let parts = pair.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].drop(while: { $0 == " " }) == Self.cookie,
                let session = Session(sealed: parts[1], keys, now)
            else { continue }
            self = session
            return
        }
        return nil
    }

    private init?(sealed: Substring, _ keys: [ReaderKey.Access], _ now: Timestamp) {
        let parts = sealed.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let expires = Int64(parts[1]), expires > now.microseconds / 1_000_000,
            // Not after the latest that anybody was given.
            expires <= now.microseconds / 1_000_000 + Self.seconds + 60,
            let key = keys.first(where: { PercentText.encoded($0.name).utf8.elementsEqual(parts[0].utf8) })
        else { return nil }
        let seal = SHA256(of: Self.seal(of: "\(parts[0]):\(parts[1])", key.hash).utf8)
        guard seal.equalsInConstantTime(SHA256(of: parts[2].utf8)) else { return nil }
        (reader, apps, self.expires) = (key.name, key.apps, expires)
    }

    private static func seal(of said: String, _ hash: SHA256) -> String {
        SHA256.authentication(of: "bellwether look session\n\(said)".utf8, key: hash).bytes.hex
    }
}
