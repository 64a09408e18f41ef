internal import Envelopes
internal import Telemetry
internal import Values

/// The verdicts on what one call to the appender must store, and what a transaction records besides its events. Every
/// stage tells it what it settles.
struct Ledger {
    /// What one transaction stores besides its events.
    struct News {
        var refusals: [Refusal] = []
        var drops: [DropReport] = []
        var tally = BatchCounts()
    }

    let submissions: [Submission]
    /// The state of each event of each submission, by its index in the envelope.
    private var verdicts: [[Settled]]
    /// The rejections of the rejected events.
    private var rejections: [Candidate.Place: Rejection] = [:]
    /// Submissions that are left out, and what to say of them: their keys are closed, or their events belong elsewhere.
    private var leftOut: [Int: Settlement] = [:]
    /// Verdicts that the next commit must record.
    private var untold: [Candidate.Place] = []
    /// Whether a commit has recorded what the submissions have besides storable events.
    private var hasTold = false
    /// For the next transaction that commits.
    private var pending = News()
    /// Rejected events for which the allowance has not been asked.
    private var fresh: [Refusal] = []
    private var sources: [Int: String?] = [:]

    /// What a commit has settled.
    private enum Settled { case not, accepted, duplicate, rejected }

    init(_ submissions: [Submission]) {
        self.submissions = submissions
        verdicts = submissions.map { [Settled](repeating: .not, count: $0.envelope.count) }
    }

    /// Begins with what no commit has settled, but leaves out what must not come in.
    mutating func begin(without exclusions: Exclusions = Exclusions()) {
        for place in untold { verdicts[place.submission][place.event] = .not }
        untold = []
        pending = News()
        fresh = []
        leftOut = [:]
        for (index, submission) in submissions.enumerated() {
            if let reason = exclusions.settlement(of: submission) { leftOut[index] = reason }
        }
        if hasTold { return }
        for (index, submission) in submissions.enumerated() where leftOut[index] == nil {
            let key = BatchCounts.Key(of: submission)
            pending.tally.mention(key)
            for event in submission.rejected {
                pending.tally.count(event.rejection.reason, for: key)
                fresh.append(
                    Refusal(
                        event, install: event.install ?? submission.envelope.installID, source: source(of: index),
                        of: submission))
            }
            for drop in submission.drops {
                pending.drops.append(
                    DropReport(
                        app: submission.app, key: submission.key, install: submission.envelope.installID,
                        receivedAt: submission.envelope.receivedAt, drop: drop))
            }
        }
    }

    /// Whether a submission is left out because its events belong elsewhere.
    var isForElsewhere: Bool {
        leftOut.values.contains { if case .elsewhere = $0 { true } else { false } }
    }

    /// A candidate for every unsettled event.
    var candidates: [Candidate] {
        var candidates: [Candidate] = []
        candidates.reserveCapacity(submissions.reduce(0) { $0 + $1.indexes.count })
        for (index, submission) in submissions.enumerated() where leftOut[index] == nil {
            let envelope = submission.envelope
            for event in submission.indexes where verdicts[index][event] == .not {
                let identity = Candidate.Identity(
                    deviceAt: envelope.events[event].deviceAt, id: envelope.events[event].id,
                    install: envelope.install(of: event), app: submission.app)
                candidates.append(
                    Candidate(place: Candidate.Place(submission: index, event: event), identity: identity))
            }
        }
        return candidates
    }

    /// Rejects an event that was valid until now, and its copies.
    mutating func reject(_ candidate: Candidate, _ rejection: Rejection, in events: UniqueEvents) {
        for place in [candidate.place] + events.copies(of: candidate) {
            let submission = submissions[place.submission]
            verdicts[place.submission][place.event] = .rejected
            rejections[place] = rejection
            untold.append(place)
            pending.tally.count(rejection.reason, for: BatchCounts.Key(of: submission))
            let event = RejectedEvent(
                index: place.event, id: candidate.identity.id, rejection: rejection,
                raw: submission.envelope.rawEvent(place.event))
            fresh.append(
                Refusal(
                    event, install: candidate.identity.install, source: source(of: place.submission), of: submission))
        }
    }

    /// Settles an event, and its copies, that the log already has.
    mutating func settleKnown(_ candidate: Candidate, in events: UniqueEvents) {
        for place in [candidate.place] + events.copies(of: candidate) {
            verdicts[place.submission][place.event] = .duplicate
            untold.append(place)
            pending.tally.countDuplicate(for: BatchCounts.Key(of: submissions[place.submission]))
        }
    }

    /// Found once for all rejected events of an envelope, which share it.
    private mutating func source(of index: Int) -> String? {
        if let source = sources[index] { return source }
        let source = submissions[index].envelope.rawSource
        sources[index] = .some(source)
        return source
    }

    /// Returns the new rejected events: the same raw event of an app once.
    mutating func takeFreshRefusals() -> [Refusal] {
        defer { fresh = [] }
        var seen = Set(pending.refusals.map(\.identity))
        return fresh.filter { seen.insert($0.identity).inserted }
    }

    /// Lets the next transaction store these.
    mutating func keep(_ refusals: [Refusal]) {
        pending.refusals += refusals
    }

    /// Removes everything that would bring an erased install back, and returns the rejected events that were to be
    /// kept.
    mutating func removeErased(by removed: RemovedHistory) -> [Refusal] {
        fresh.removeAll { removed.hasErased($0.install, app: $0.app) }
        for index in pending.drops.indices
        where removed.hasErased(pending.drops[index].install, app: pending.drops[index].app) {
            pending.drops[index].install = nil
        }
        let erased = pending.refusals.filter { removed.hasErased($0.install, app: $0.app) }
        pending.refusals.removeAll { removed.hasErased($0.install, app: $0.app) }
        return erased
    }

    /// Rejected events that are to be kept and are not stored yet.
    var unstoredRefusals: [Refusal] { pending.refusals }

    /// Whether a transaction without events is still needed.
    var hasSomethingToTell: Bool { !pending.tally.counts.isEmpty || !fresh.isEmpty }

    /// What a transaction with these events records: what is pending, and their own counts.
    func news(of events: UniqueEvents) -> News {
        var news = pending
        var counts = BatchCounts.Counts()
        var counted = -1
        // The candidates of a submission are mostly consecutive.
        func add() {
            if counted >= 0 { news.tally.add(counts, for: BatchCounts.Key(of: submissions[counted])) }
            counts = BatchCounts.Counts()
        }
        for candidate in events.candidates {
            if candidate.place.submission != counted {
                add()
                counted = candidate.place.submission
            }
            if candidate.isKnown {
                counts.duplicate += 1
            } else {
                counts.accept(submissions.event(at: candidate.place))
                if !candidate.names.others.isEmpty { counts.other += 1 }
            }
            for place in events.copies(of: candidate) {
                news.tally.countDuplicate(for: BatchCounts.Key(of: submissions[place.submission]))
            }
        }
        add()
        return news
    }

    /// Settles these after the commit.
    mutating func settle(_ events: UniqueEvents) {
        (pending, untold, hasTold) = (News(), [], true)
        for candidate in events.candidates { accept(candidate, in: events) }
    }

    /// Settles an event that goes in, and its copies; or that the log is found to have.
    mutating func accept(_ candidate: Candidate, in events: UniqueEvents) {
        let place = candidate.place
        verdicts[place.submission][place.event] = candidate.isKnown ? .duplicate : .accepted
        for copy in events.copies(of: candidate) { verdicts[copy.submission][copy.event] = .duplicate }
    }

    /// What became of each submission. The whole is nil while any event is unsettled.
    var settlements: [Settlement]? {
        var settled: [Settlement] = []
        settled.reserveCapacity(submissions.count)
        for (index, submission) in submissions.enumerated() {
            if let reason = leftOut[index] {
                settled.append(reason)
                continue
            }
            var exceptions: [(index: Int, verdict: Verdict)] = []
            for event in submission.indexes {
                switch verdicts[index][event] {
                case .not: return nil
                case .accepted: break
                case .duplicate: exceptions.append((event, .duplicate))
                case .rejected:
                    guard let rejection = rejections[Candidate.Place(submission: index, event: event)] else {
                        return nil
                    }
                    exceptions.append((event, .rejected(rejection)))
                }
            }
            settled.append(.settled(Verdicts(count: submission.indexes.count, exceptions: exceptions)))
        }
        return settled
    }
}
