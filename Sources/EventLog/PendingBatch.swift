internal import Telemetry

/// What one call to the appender has to store, and what is already known of it.
struct PendingBatch {
    /// What makes an event one event.
    struct Identity: Hashable, Comparable {
        let deviceAt: Timestamp
        let id: UUID
        let install: UUID
        let app: Int32
        let shard: Int16

        /// Whether an event of the same app is a copy of this one.
        func isSame(as event: Event) -> Bool {
            event.id == id && event.deviceAt == deviceAt && event.source.installID == install
        }

        /// The order of the unique key.
        static func < (left: Identity, right: Identity) -> Bool {
            (left.deviceAt, left.id, left.install, left.app) < (right.deviceAt, right.id, right.install, right.app)
        }
    }

    /// An event that may go into the log, by its place in the submissions.
    struct Candidate {
        let submission: Int
        let event: Int
        let identity: Identity
        var words = WordIDs()
    }

    /// A refused event with what its row needs of the envelope.
    struct Refusal {
        let app: Int32
        let key: Int32
        let receivedAt: Timestamp
        let sentAt: Timestamp?
        let source: String?
        let event: RejectedEvent
    }

    /// A client's report of what it dropped, with what its row needs of the envelope.
    struct DropReport {
        let app: Int32
        let key: Int32
        let install: UUID?
        let receivedAt: Timestamp
        let drop: ClientDrop
    }

    /// What one transaction tells beside its events.
    struct News {
        var rejected: [Refusal] = []
        var drops: [DropReport] = []
        var tally = Tally()
    }

    struct WordGroup: Hashable {
        let app: Int32
        let kind: WordKind
    }

    let submissions: [Submission]
    private(set) var candidates: [Candidate] = []
    private(set) var verdicts: [[Verdict]]
    var learned: [WordCache.Key: Int32] = [:]
    /// Said by the next transaction that commits.
    private var pending = News()

    init(_ submissions: [Submission]) {
        self.submissions = submissions
        verdicts = submissions.map { [Verdict](repeating: .accepted, count: $0.events.count) }
        for submission in submissions {
            let key = Tally.Key(of: submission)
            pending.tally.mention(key)
            for event in submission.rejected {
                pending.tally.count(event.rejection.reason, for: key)
                pending.rejected.append(Refusal(event, of: submission))
            }
            for drop in submission.drops {
                pending.drops.append(
                    DropReport(
                        app: submission.app, key: submission.key, install: submission.install,
                        receivedAt: submission.receivedAt, drop: drop))
            }
        }
    }

    /// Words that the cache does not hold, each once.
    func unknownWords(_ cache: WordCache) -> [WordGroup: Set<String>] {
        var unknown: [WordGroup: Set<String>] = [:]
        for submission in submissions {
            for event in submission.events {
                event.forEachWord { kind, value in
                    guard cache[WordCache.Key(app: submission.app, kind: kind, value: value)] == nil else { return }
                    unknown[WordGroup(app: submission.app, kind: kind), default: []].insert(value)
                }
            }
        }
        return unknown
    }

    /// Makes a candidate of every event whose words all have ids, and rejects the others.
    mutating func assignWords(_ cache: WordCache) {
        for (place, submission) in submissions.enumerated() {
            for (index, event) in submission.events.enumerated() {
                var candidate = Candidate(
                    submission: place, event: index,
                    identity: Identity(
                        deviceAt: event.deviceAt, id: event.id, install: event.source.installID, app: submission.app,
                        shard: event.shard))
                var homeless: WordKind?
                event.forEachWord { kind, value in
                    let key = WordCache.Key(app: submission.app, kind: kind, value: value)
                    if let id = cache[key] ?? learned[key] {
                        candidate.words[kind] = id
                    } else {
                        homeless = homeless ?? kind
                    }
                }
                if let homeless {
                    let detail = "\(homeless.path): the app has too many different values of it for one more"
                    reject(candidate, Rejection(.tooManyValues, detail))
                } else {
                    candidates.append(candidate)
                }
            }
        }
    }

    /// Puts the candidates in key order and settles all but the first copy of each.
    mutating func settleRepeats() {
        var seen: Set<Identity> = []
        seen.reserveCapacity(candidates.count)
        var first: [Candidate] = []
        first.reserveCapacity(candidates.count)
        for candidate in candidates {
            if seen.insert(candidate.identity).inserted {
                first.append(candidate)
            } else {
                verdicts[candidate.submission][candidate.event] = .duplicate
                let submission = submissions[candidate.submission]
                pending.tally.count(submission.events[candidate.event], .duplicate, for: Tally.Key(of: submission))
            }
        }
        candidates = first.sorted { $0.identity < $1.identity }
    }

    /// Refuses an event that had been let through.
    mutating func reject(_ candidate: Candidate, _ rejection: Rejection) {
        let submission = submissions[candidate.submission]
        verdicts[candidate.submission][candidate.event] = .rejected(rejection)
        // Its repeats were settled against it, and share its fate.
        for (place, other) in submissions.enumerated() where other.app == submission.app {
            for (index, event) in other.events.enumerated()
            where verdicts[place][index] == .duplicate && candidate.identity.isSame(as: event) {
                verdicts[place][index] = .rejected(rejection)
            }
        }
        pending.tally.count(rejection.reason, for: Tally.Key(of: submission))
        let event = RejectedEvent(
            id: submission.events[candidate.event].id, rejection: rejection, raw: submission.raw(candidate.event))
        pending.rejected.append(Refusal(event, of: submission))
    }

    /// Whether a transaction without events must still be made.
    var hasSomethingToTell: Bool { !pending.tally.counts.isEmpty }

    /// What a transaction that stores these candidates tells: what is pending, and their own counts.
    func news(of stored: ArraySlice<Candidate>, known: Set<Int>) -> News {
        var news = pending
        for (offset, candidate) in stored.enumerated() {
            let submission = submissions[candidate.submission]
            news.tally.count(
                submission.events[candidate.event], known.contains(offset) ? .duplicate : .accepted,
                for: Tally.Key(of: submission))
        }
        return news
    }

    /// The transaction has been committed.
    mutating func settle(_ stored: ArraySlice<Candidate>, known: Set<Int>) {
        pending = News()
        for (offset, candidate) in stored.enumerated() where known.contains(offset) {
            verdicts[candidate.submission][candidate.event] = .duplicate
        }
    }
}

extension PendingBatch.Refusal {
    fileprivate init(_ event: RejectedEvent, of submission: Submission) {
        self.init(
            app: submission.app, key: submission.key, receivedAt: submission.receivedAt, sentAt: submission.sentAt,
            source: submission.source, event: event)
    }
}
