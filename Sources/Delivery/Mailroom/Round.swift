package import Letters
package import Postgres
package import ServiceRuntime
internal import Values

/// One round: takes the letters that wait to their places, each place in order. What fails waits for the next round.
///
/// A letter is marked before it leaves and when it has been taken, each in a transaction of its own. Whatever ends this
/// process in between, the next round sends it again with the same id and says so.
package struct Round {
    /// What became of the letters.
    package struct Result: Sendable {
        package var sent = 0
        package var failed = 0
        /// Those behind a place that failed, or without time left.
        package var waiting = 0
        package var isComplete: Bool { failed == 0 && waiting == 0 }
    }

    /// The longest round. A place has half a minute for an answer, so that a few that are away do not use it up.
    package static let seconds = 600.0

    private let places: Places
    private let deadline: Deadline
    private let tell: (String) -> Void
    private let webhook = Webhook()

    /// `tell` gets a line for people on each failure and each place.
    package init(_ places: Places, until deadline: Deadline, tell: @escaping (String) -> Void) {
        (self.places, self.deadline, self.tell) = (places, deadline, tell)
    }

    /// Must be the only one on its database: `Letters.takeRound` makes sure.
    package func run(on connection: inout Connection) throws(PostgresError) -> Result {
        var result = Result()
        let old = try Letters.giveUpOld(on: &connection)
        if old > 0 { tell("\(old) reports that nobody took for \(Letter.mostDays) days were given up") }
        let letters = Dictionary(grouping: try Letters.waiting(on: &connection), by: \.place)
        for place in places.all {
            guard let own = letters[place.name] else { continue }
            try run(own, to: place, &result, on: &connection)
        }
        for (name, letters) in letters.sorted(by: { $0.key < $1.key })
        where !places.all.contains(where: { $0.name == name }) {
            // They are none of this file's, and wait for a run with one that has the place.
            try Letters.note(
                letters.filter { $0.attempts == 0 }, because: "no place in the last file has this name", on: &connection
            )
            tell("\(name): \(String(waiting: letters.count)), but no place in this file has this name")
        }
        return result
    }

    private func run(
        _ letters: [Letter], to place: Place, _ result: inout Result, on connection: inout Connection
    ) throws(PostgresError) {
        let target: Target
        do throws(Target.Fault) { target = try Target(place, of: places) } catch {
            try Letters.note(letters, because: error.description, on: &connection)
            tell("\(place.name): \(error). \(String(waiting: letters.count))")
            result.failed += letters.count
            return
        }
        var sent = 0
        for (index, letter) in letters.enumerated() {
            let behind = Array(letters[(index + 1)...])
            guard !deadline.hasPassed else {
                let minutes = Int(Self.seconds / 60)
                tell("\(place.name): \(String(waiting: behind.count + 1)): this run has taken \(minutes) minutes")
                result.waiting += behind.count + 1
                break
            }
            guard let failure = try attempt(letter, to: target, on: &connection) else {
                sent += 1
                continue
            }
            result.failed += 1
            tell("\(place.name): \(letter.app), \(letter.period) was not delivered: \(failure.reason)")
            if failure.endsPlace {
                try Letters.note(behind, because: "it waits behind a report that was not delivered", on: &connection)
                result.waiting += behind.count
                break
            }
        }
        result.sent += sent
        if sent > 0 { tell("\(place.name): \(String(counting: sent, "report", "reports")) delivered") }
    }

    /// Nil if the place has taken it.
    private func attempt(
        _ letter: Letter, to target: Target, on connection: inout Connection
    ) throws(PostgresError) -> (reason: String, endsPlace: Bool)? {
        guard let contents = try Letters.begin(letter, on: &connection) else { return nil }
        CrashPoint.pass("letter begun")
        let outcome = target.send(letter, contents, by: webhook)
        CrashPoint.pass("letter sent")
        defer { CrashPoint.pass("letter ended") }
        switch outcome {
        case .taken:
            try Letters.end(letter, on: &connection)
            return nil
        case .refused(let reason, let endsPlace):
            try Letters.fail(letter, because: reason, mayHaveArrived: false, on: &connection)
            return (reason, endsPlace)
        case .unanswered(let reason):
            try Letters.fail(letter, because: reason, mayHaveArrived: true, on: &connection)
            return (reason, true)
        }
    }
}

extension String {
    fileprivate init(waiting letters: Int) {
        self = String(counting: letters, "report", "reports") + (letters == 1 ? " waits" : " wait")
    }
}

/// A place with what opens it.
private struct Target {
    /// What it lacks, in words without a secret.
    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    private enum Way {
        case mail(Sendmail)
        case slack(WebAddress), teams(WebAddress)
        case json(WebAddress, key: SignedMessage.Key)
    }

    private let way: Way

    init(_ place: Place, of places: Places) throws(Fault) {
        func read(_ secret: Secret) throws(Fault) -> String {
            do throws(Secret.Missing) { return try secret.read() } catch { throw Fault(description: error.description) }
        }
        func address(_ secret: Secret) throws(Fault) -> WebAddress {
            let text = try read(secret)
            do throws(WebAddress.Fault) { return try WebAddress(text, allowsHTTP: place.allowsHTTP) } catch {
                throw Fault(description: "its URL \(error)")
            }
        }
        switch place.kind {
        case .mail(let addresses):
            guard let from = places.from else {
                throw Fault(description: "the file does not say from whom its mail is")
            }
            way = .mail(Sendmail(path: places.sendmail, from: from, addresses: addresses))
        case .slack(let url): way = .slack(try address(url))
        case .teams(let url): way = .teams(try address(url))
        case .json(let url, let key):
            guard let signing = SignedMessage.Key(try read(key)) else {
                throw Fault(description: "its key begins with whsec_, and what follows is no base64")
            }
            way = .json(try address(url), key: signing)
        }
    }

    func send(_ letter: Letter, _ contents: Letter.Contents, by webhook: Webhook) -> Outcome {
        switch way {
        case .mail(let sendmail):
            let mail = MailMessage(letter, contents, from: sendmail.from, to: sendmail.addresses, at: WallClock.now)
            return sendmail.send(mail.text)
        case .slack(let address): return webhook.post(ChatMessage.slack(letter, contents), to: address)
        case .teams(let address): return webhook.post(ChatMessage.teams(letter, contents), to: address)
        case .json(let address, let key):
            let message = SignedMessage(letter, contents, key: key, at: WallClock.now)
            return webhook.post(message.body, to: address, headers: message.headers)
        }
    }
}
