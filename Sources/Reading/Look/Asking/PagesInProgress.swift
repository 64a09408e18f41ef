internal import Accounts
internal import HTTPServer
internal import Postgres
internal import ServiceRuntime
internal import Values

/// The pages that are being read. Whoever has waited for a moment is shown what for, and may cancel it. The browser
/// then asks for the same address again, by itself, until the page is there. Everybody who asks for that address
/// meanwhile gets the same page. What nobody asks for any more is cancelled: a closed window costs the database
/// nothing.
final class PagesInProgress: Sendable {
    /// What a page is told apart by.
    struct Name: Hashable, Sendable {
        let address: String
        let isSignedIn: Bool
        /// The apps that it was read for: another key's page has other figures.
        let apps: [String]?
    }

    private struct Page: Sendable {
        let reading: Reading
        var waiting: [Waiter]
        /// If nobody waits: by when somebody must have asked again.
        var forgotten = Deadline.never
        /// Until somebody has come for it.
        var answer: Response?
    }

    private struct Waiter: Sendable {
        let reply: Reply
        /// By when there is an answer, if only that it takes longer.
        let until: Deadline
    }

    private typealias Pages = [Name: Page]

    private let worker = DatabaseWorker(Pages())
    /// How long a browser waits before it is told what for.
    private let patience: Double
    /// After so many seconds a page is given up.
    private let mostSeconds: Double
    private let log: Log

    /// How long a browser waits when it asks again.
    private static let laterPatience = 2.0
    /// A browser asks again after a second, unless its window is closed or its network is gone.
    private static let secondsToAskAgain = 6.0
    /// Answers that wait for their readers.
    private static let mostAnswers = 32

    init(patience: Double, mostSeconds: Double, log: Log) {
        (self.patience, self.mostSeconds, self.log) = (patience, mostSeconds, log)
    }

    func start() { worker.start(["look waiting"]) { _ in self.run() } }

    func stop() {
        worker.stop()
        for page in worker.withLock({ pages in pages.values.map(\.self) }) {
            for waiter in page.waiting { waiter.reply.send(Notice(.stopping, PageState())) }
        }
    }

    // MARK: For the browsers

    /// Leads to one answer. Returns the reading of a page that nobody reads yet: the caller begins it.
    func join(_ name: Name, _ reply: Reply) -> Reading? {
        let (begun, answer) = worker.notify { pages, _ -> (Reading?, Response?) in
            guard let page = pages[name] else {
                let reading = Reading()
                pages[name] = Page(reading: reading, waiting: [Waiter(reply: reply, until: .after(seconds: patience))])
                return (reading, nil)
            }
            if let answer = page.answer {
                // A request after that wants to see what is new.
                pages[name] = nil
                return (nil, answer)
            }
            pages[name]?.waiting.append(Waiter(reply: reply, until: .after(seconds: Self.laterPatience)))
            pages[name]?.forgotten = .never
            return (nil, nil)
        }
        if let answer { reply.send(answer) }
        return begun
    }

    /// Somebody wants a page no more. Returns its address, if it was still being read.
    func cancel(_ id: UUID) -> String? {
        let found = worker.withLock { pages -> (Name, Page)? in
            guard let found = pages.first(where: { $1.reading.id == id && $1.answer == nil }) else { return nil }
            pages[found.key] = nil
            return found
        }
        guard let (name, page) = found else { return nil }
        page.reading.cancel(log)
        for waiter in page.waiting { waiter.reply.send(LookResponse.cancelled(name.address)) }
        return name.address
    }

    // MARK: For the sessions

    /// The page is there, or why it is not.
    func finish(_ name: Name, _ reading: Reading, _ answer: Response) {
        let waiting = worker.withLock { pages -> [Waiter] in
            guard let page = pages[name], page.reading.id == reading.id else { return [] }
            pages[name] = nil
            if page.waiting.isEmpty {
                let kept = pages.filter { $1.answer != nil }
                if kept.count >= Self.mostAnswers,
                    let oldest = kept.min(by: { $0.value.reading.began < $1.value.reading.began })
                {
                    pages[oldest.key] = nil
                }
                var page = page
                page.answer = answer
                pages[name] = page
            }
            return page.waiting
        }
        for waiter in waiting { waiter.reply.send(answer) }
    }

    // MARK: Who has waited long enough

    private func run() {
        while worker.next({ $0.isEmpty ? nil : true }) != nil, !worker.isStopping {
            look()
            worker.rest(0.1)
        }
    }

    private func look() {
        var (told, unwanted): ([(Reply, Response)], [Reading]) = ([], [])
        worker.withLock { pages in
            let read = pages.values.count { $0.answer == nil && $0.reading.hasBegun }
            for (name, var page) in pages {
                let late = page.waiting.filter(\.until.hasPassed)
                if !late.isEmpty {
                    let response = LookResponse.reading(page.reading, ahead: read, givenUpAfter: mostSeconds)
                    told += late.map { ($0.reply, response) }
                    page.waiting.removeAll(where: \.until.hasPassed)
                }
                if page.waiting.isEmpty, page.forgotten == .never {
                    page.forgotten = .after(seconds: Self.secondsToAskAgain)
                }
                pages[name] = page
                guard page.forgotten.hasPassed else { continue }
                pages[name] = nil
                if page.answer == nil { unwanted.append(page.reading) }
            }
        }
        for (reply, response) in told { reply.send(response) }
        for reading in unwanted { reading.cancel(log) }
    }
}

/// One page, while it is read.
final class Reading: Sendable {
    let id = UUID(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
    let began = Deadline.now

    private struct State: Sendable {
        var hasBegun = false
        var isCancelled = false
        var handle: CancelHandle?
    }

    private let state = Lock(State())

    /// A session begins with it, unless it is cancelled.
    func begin(_ handle: CancelHandle?) -> Bool {
        state.withLock { state in
            guard !state.isCancelled else { return false }
            (state.hasBegun, state.handle) = (true, handle)
            return true
        }
    }

    /// Whether it has a session, and does not only wait for one.
    var hasBegun: Bool { state.withLock { state in state.hasBegun } }

    /// The session is done with it. Returns whether it was cancelled: then what the session runs next could be
    /// cancelled instead.
    func end() -> Bool {
        state.withLock { state in
            state.handle = nil
            return state.isCancelled
        }
    }

    func cancel(_ log: Log) {
        let handle = state.withLock { state in
            state.isCancelled = true
            return state.handle
        }
        if let fault = handle?.cancel() { log.warning("look: a page could not be cancelled", ["error": "\(fault)"]) }
    }
}
