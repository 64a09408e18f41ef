internal import Accounts
internal import HTTPServer
internal import ServiceRuntime

/// Says who asks: with a cookie, as people do after they have signed in, or with a key in the request, as programs do.
final class Doorkeeper: Sendable {
    private let directory: ReaderDirectory
    private let limit: GuessLimit

    init(_ directory: ReaderDirectory, _ limit: GuessLimit) { (self.directory, self.limit) = (directory, limit) }

    /// Passes on a notice if nobody knows who it is; then a person has to sign in.
    func admit(_ head: RequestHead, _ answer: @escaping @Sendable (Result<Viewer, Notice>) -> Void) {
        let keys: [ReaderKey.Access]
        switch directory.admission {
        case .open: return answer(.success(.anybody))
        case .unknown: return answer(.failure(.keysUnknown))
        case .keys(let open): keys = open
        }
        if let authorization = head.header("authorization") {
            let parts = authorization.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].lowercased() == "bearer" else { return answer(.failure(.missingKey)) }
            find(String(parts[1].trimmingPrefix { $0 == " " }), from: head.peer) { viewer in
                answer(keys.isEmpty ? viewer.mapError { _ in .noKeys } : viewer)
            }
        } else if keys.isEmpty {
            answer(.failure(.noKeys))
        } else if let session = Session(head.header("cookie"), keys: keys, at: WallClock.now) {
            directory.note(session.reader)
            answer(.success(Viewer(key: session.reader, apps: session.apps, isSignedIn: true)))
        } else {
            answer(.failure(.missingKey))
        }
    }

    /// A key that is known is never held up by those who guess.
    private func find(
        _ secret: String, from peer: String, _ answer: @escaping @Sendable (Result<Viewer, Notice>) -> Void
    ) {
        let (directory, limit) = (directory, limit)
        let admit: @Sendable (ReaderKey.Access) -> Void = { key in
            directory.note(key.name)
            answer(.success(Viewer(key: key.name, apps: key.apps)))
        }
        if let key = directory.known(secret) { return admit(key) }
        guard limit.take(peer) else { return answer(.failure(.tooManyGuesses)) }
        directory.find(secret) { key in
            guard let key else { return answer(.failure(.unknownKey)) }
            limit.forgive(peer)
            admit(key)
        }
    }
}

extension [ReaderKey.Access] {
    /// The key with this secret. All are compared, so that the time tells nothing.
    func matching(_ secret: some StringProtocol) -> ReaderKey.Access? {
        let hash = SHA256(of: secret.utf8)
        return reduce(ReaderKey.Access?.none) { $1.hash.equalsInConstantTime(hash) ? $1 : $0 }
    }
}
