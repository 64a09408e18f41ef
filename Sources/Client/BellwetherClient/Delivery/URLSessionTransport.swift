internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The network in production: one connection that is kept while it is used; no cookies, no cache, no redirects.
///
/// On Linux, Foundation crashes the process when a connection ends in the middle of an answer's head
/// (swift-corelibs-foundation, issue 5285). No recorded event is lost: the next process sends them.
final class URLSessionTransport: Transport {
    private let session: URLSession
    private let exchanges: Exchanges

    init(usesExpensiveNetworks: Bool = true) {
        let configuration = URLSessionConfiguration.ephemeral
        #if canImport(Darwin)
        configuration.allowsExpensiveNetworkAccess = usesExpensiveNetworks
        configuration.allowsConstrainedNetworkAccess = usesExpensiveNetworks
        #endif
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpMaximumConnectionsPerHost = 1
        exchanges = Exchanges()
        session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
    }

    deinit { session.invalidateAndCancel() }

    func send(_ posting: Posting) async throws -> Answer {
        var request = URLRequest(url: posting.url, timeoutInterval: posting.timeout)
        request.httpMethod = "POST"
        request.httpBody = Data(posting.body)
        for (name, value) in posting.headers { request.setValue(value, forHTTPHeaderField: name) }
        let task = session.dataTask(with: request)
        // Limit the number to one that fits, whatever the app has set.
        let timeout = posting.timeout > 0 ? min(posting.timeout, 86_400) : 0
        // The session's own timeout restarts with every byte.
        let alarm = Task {
            try await Task.sleep(nanoseconds: UInt64(timeout * 1e9))
            exchanges.end(task, TransportFailure(description: "no answer within \(Int(timeout.rounded(.up))) s"))
            task.cancel()
        }
        defer { alarm.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                exchanges.begin(task, continuation)
                if Task.isCancelled { task.cancel() }
                task.resume()
            }
        } onCancel: {
            exchanges.end(task, CancellationError())
            task.cancel()
        }
    }
}

/// The requests in progress.
private final class Exchanges: NSObject, URLSessionDataDelegate, Sendable {
    /// More than the longest answer, which lists a thousand refused events.
    private static let longestAnswer = 4 << 20

    private struct Exchange {
        var continuation: CheckedContinuation<Answer, any Error>
        var body: [UInt8] = []
    }

    private struct State {
        var exchanges: [Int: Exchange] = [:]
        /// Requests that were ended before they began.
        var ended: [Int: any Error] = [:]
    }

    private let state = Guarded(State())

    func begin(_ task: URLSessionTask, _ continuation: CheckedContinuation<Answer, any Error>) {
        let error = state.withLock { state -> (any Error)? in
            if let error = state.ended.removeValue(forKey: task.taskIdentifier) { return error }
            state.exchanges[task.taskIdentifier] = Exchange(continuation: continuation)
            return nil
        }
        if let error { continuation.resume(throwing: error) }
    }

    /// Ends a request without an answer.
    func end(_ task: URLSessionTask, _ error: any Error) {
        let exchange = state.withLock { state -> Exchange? in
            if let exchange = state.exchanges.removeValue(forKey: task.taskIdentifier) { return exchange }
            if task.state == .suspended { state.ended[task.taskIdentifier] = error }
            return nil
        }
        exchange?.continuation.resume(throwing: error)
    }

    func urlSession(
        _: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        // On Linux, a cancelled transfer may continue for a while and fill the memory, so do not start it.
        guard response.expectedContentLength > Int64(Exchanges.longestAnswer) else { return completionHandler(.allow) }
        end(dataTask, TransportFailure(description: "the answer is too long"))
        completionHandler(.cancel)
    }

    func urlSession(_: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLong = state.withLock { state in
            state.exchanges[dataTask.taskIdentifier]?.body += data
            return state.exchanges[dataTask.taskIdentifier].map { $0.body.count > Exchanges.longestAnswer } == true
        }
        guard isTooLong else { return }
        end(dataTask, TransportFailure(description: "the answer does not end"))
        dataTask.cancel()
    }

    func urlSession(_: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let exchange = state.withLock { $0.exchanges.removeValue(forKey: task.taskIdentifier) }
        guard let exchange else { return }
        guard error == nil, let response = task.response as? HTTPURLResponse else {
            let words = error.map { $0.localizedDescription } ?? "no answer"
            return exchange.continuation.resume(throwing: TransportFailure(description: words))
        }
        var headers: [String: String] = [:]
        for (name, value) in response.allHeaderFields {
            guard let name = name as? String, let value = value as? String else { continue }
            headers[name.lowercased()] = value
        }
        exchange.continuation.resume(
            returning: Answer(status: response.statusCode, headers: headers, body: exchange.body))
    }

    // A redirect would change the request, and could send the key to someone else.
    func urlSession(
        _: URLSession, task _: URLSessionTask, willPerformHTTPRedirection _: HTTPURLResponse,
        newRequest _: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    // We have no password, and only something between us and the server could ask for one. On Linux, the request would
    // wait for a password for ever, so let it fail; it is tried again. (The other way to continue, a nil credential,
    // crashes there.)
    func urlSession(
        _: URLSession, task _: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let passwords = [NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest]
        let isAboutPassword = passwords.contains(challenge.protectionSpace.authenticationMethod)
        completionHandler(isAboutPassword ? .rejectProtectionSpace : .performDefaultHandling, nil)
    }
}
