internal import Accounts
internal import HTTPServer
internal import ServiceRuntime

/// Says who asks: with a cookie, as people do after they have signed in, or with a key in the request, as programs do.
final class Doorkeeper: Sendable {
    private let directory: ReaderDirectory
    private let limit: GuessLimit
    private let log: Log

    init(_ directory: ReaderDirectory, _ limit: GuessLimit, log: Log) {
        (self.directory, self.limit, self.log) = (directory, limit, log)
    }

    /// Throws if nobody knows who it is; then a person has to sign in.
    func viewer(_ head: RequestHead) throws(Notice) -> Viewer {
        let keys: [ReaderKey.Access]
        switch directory.admission {
        case .open: return .anybody
        case .unknown: throw .keysUnknown
        case .keys(let open) where open.isEmpty: throw .noKeys
        case .keys(let open): keys = open
        }
        let viewer: Viewer
        if let authorization = head.header("authorization") {
            let key = try key(authorization, among: keys, from: head.peer)
            viewer = Viewer(key: key.name, apps: key.apps)
        } else if let session = Session(head.header("cookie"), keys: keys, at: WallClock.now) {
            viewer = Viewer(key: session.reader, apps: session.apps, isSignedIn: true)
        } else {
            throw .missingKey
        }
        if let key = viewer.key { directory.note(key) }
        return viewer
    }

    private func key(
        _ authorization: String, among keys: [ReaderKey.Access], from peer: String
    ) throws(Notice) -> ReaderKey.Access {
        let parts = authorization.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { throw .missingKey }
        if let key = keys.matching(parts[1].trimmingPrefix { $0 == " " }) { return key }
        // A right one is never held up by those who guess.
        throw limit.take(peer) ? .unknownKey : .tooManyGuesses
    }
}

extension [ReaderKey.Access] {
    /// The key with this secret. All are compared, so that the time tells nothing.
    func matching(_ secret: some StringProtocol) -> ReaderKey.Access? {
        let hash = SHA256(of: secret.utf8)
        return reduce(ReaderKey.Access?.none) { $1.hash.equalsInConstantTime(hash) ? $1 : $0 }
    }
}
