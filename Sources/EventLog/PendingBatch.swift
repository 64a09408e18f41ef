internal import Postgres
internal import Telemetry
internal import Values

/// What one call to the appender has to store, and what is already known of it.
struct PendingBatch {
    /// What makes an event one event.
    struct Identity: Hashable, Comparable {
        let deviceAt: Timestamp
        let id: UUID
        let install: UUID
        let app: Int32

        init(of event: Event, app: Int32) {
            deviceAt = event.deviceAt
            id = event.id
            install = event.source.installID
            self.app = app
        }

        /// One order for all writers, so that two never wait for each other in a ring.
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
        /// Words that the cache did not have.
        var unknown: [WordCache.Key] = []
        var names = Names()
        /// What tells it apart from other events of the same time and hash.
        var tie: Int16 = 0
    }

    /// What one transaction tells beside its events.
    struct News {
        var refusals: [Refusal] = []
        var drops: [DropReport] = []
        var tally = Tally()
    }

    let submissions: [Submission]
    private(set) var candidates: [Candidate] = []
    /// Nil until a commit vouches for it.
    private var verdicts: [[Verdict?]]
    /// Whose submissions are left out: their keys are closed.
    private var leftOut: Set<Int> = []
    /// Verdicts that wait for the next commit, which tells of them.
    private var untold: [(submission: Int, event: Int)] = []
    /// A commit has told what the submissions brought beside events that may be stored.
    private var hasTold = false
    /// Said by the next transaction that commits.
    private var pending = News()
    /// Refused, and not yet asked whether that may still be kept.
    private var fresh: [Refusal] = []
    private var sources: [Int: String?] = [:]

    init(_ submissions: [Submission]) {
        self.submissions = submissions
        verdicts = submissions.map { [Verdict?](repeating: nil, count: $0.events.count) }
    }

    /// Begins with what no commit has settled yet, without what comes with these keys.
    mutating func begin(without closedKeys: Set<Int32>) {
        for (place, index) in untold { verdicts[place][index] = nil }
        untold = []
        candidates = []
        repeats = [:]
        pending = News()
        fresh = []
        leftOut = closedKeys.isEmpty ? [] : Set(submissions.indices.filter { closedKeys.contains(submissions[$0].key) })
        if hasTold { return }
        for (place, submission) in submissions.enumerated() where !leftOut.contains(place) {
            let key = Tally.Key(of: submission)
            pending.tally.mention(key)
            for event in submission.rejected {
                pending.tally.count(event.rejection.reason, for: key)
                fresh.append(
                    Refusal(
                        event, install: event.install ?? submission.install, source: source(of: place), of: submission))
            }
            for drop in submission.drops {
                pending.drops.append(
                    DropReport(
                        app: submission.app, key: submission.key, install: submission.install,
                        receivedAt: submission.receivedAt, drop: drop))
            }
        }
    }

    /// Makes a candidate of every event that is not settled, with the ids that the cache knows, and gives the words that it
    /// does not, each with who brought it first.
    mutating func nameCandidates(_ cache: inout WordCache) -> [WordGroup: [Word: Teacher]] {
        var unknown: [WordGroup: [Word: Teacher]] = [:]
        candidates.reserveCapacity(submissions.reduce(0) { $0 + $1.events.count })
        for (place, submission) in submissions.enumerated() where !leftOut.contains(place) {
            // By place: taking an event out of its array would copy it.
            var source: Source?
            for index in submission.events.indices where verdicts[place][index] == nil {
                var candidate = Candidate(
                    submission: place, event: index,
                    identity: Identity(of: submission.events[index], app: submission.app))
                // The events of an envelope mostly share one source, and then its words.
                let isSame = source === submission.events[index].source && candidates.last?.unknown.isEmpty == true
                if isSame, let last = candidates.last { candidate.words.copyDevice(of: last.words) }
                source = submission.events[index].source
                submission.events[index].forEachWord(withDevice: !isSame) { kind, text in
                    let word = Word(text)
                    if let id = cache.id(of: word, kind, app: submission.app) {
                        candidate.words[kind] = id
                    } else {
                        candidate.unknown.append(WordCache.Key(app: submission.app, kind: kind, word: word))
                        let group = WordGroup(app: submission.app, kind: kind)
                        if unknown[group]?[word] == nil {
                            unknown[group, default: [:]][word] = Teacher(
                                key: submission.key, install: candidate.identity.install)
                        }
                    }
                }
                candidates.append(candidate)
            }
        }
        return unknown
    }

    struct WordGroup: Hashable {
        let app: Int32
        let kind: WordKind
    }

    /// Who brings a word: what can be learned from one key and from one install has an end.
    struct Teacher {
        let key: Int32
        let install: UUID
    }

    /// What became of a word that the cache did not have.
    struct Lesson {
        let id: Int32
        /// It was not learned, and this is the id of the reserved word.
        let isOther: Bool
    }

    /// Fills in the ids that were learned.
    mutating func completeCandidates(_ learned: [WordCache.Key: Lesson]) throws(PostgresError) {
        for place in candidates.indices where !candidates[place].unknown.isEmpty {
            for key in candidates[place].unknown {
                guard let lesson = learned[key] else { throw .decoding("the dictionary gave no id for a word") }
                candidates[place].words[key.kind] = lesson.id
                if lesson.isOther { candidates[place].names.others.insert(key.kind) }
            }
        }
    }

    /// Gives each candidate the ids of its device and context that the cache knows, and says which it does not.
    mutating func combineCandidates(_ cache: inout CombinationCache) -> [CombinationGroup: [Combination]] {
        var unknown: Set<Combination> = []
        for place in candidates.indices {
            let words = candidates[place].words
            let event = candidates[place].event
            let submission = submissions[candidates[place].submission]
            (candidates[place].names.word1, candidates[place].names.word2) = words.own(
                of: submission.events[event].type)
            if let device = Combination(deviceOf: submission.events[event].source, words, app: submission.app) {
                candidates[place].names.device = cache.id(of: device)
                if candidates[place].names.device == nil { unknown.insert(device) }
            }
            if let context = Combination(contextOf: words, app: submission.app) {
                candidates[place].names.context = cache.id(of: context)
                if candidates[place].names.context == nil { unknown.insert(context) }
            }
        }
        return Dictionary(grouping: unknown) { CombinationGroup(app: $0.app, dictionary: $0.dictionary) }
    }

    struct CombinationGroup: Hashable {
        let app: Int32
        let dictionary: Combination.Dictionary
    }

    /// Fills in what was learned. A combination for which there is no room stands in the event's own row.
    mutating func completeCombinations(_ learned: [Combination: Int32]) {
        for place in candidates.indices {
            let words = candidates[place].words
            let submission = submissions[candidates[place].submission]
            if candidates[place].names.device == nil,
                let device = Combination(
                    deviceOf: submission.events[candidates[place].event].source, words, app: submission.app)
            {
                candidates[place].names.device = learned[device]
                if learned[device] == nil { candidates[place].names.looseDevice = device }
            }
            if candidates[place].names.context == nil, let context = Combination(contextOf: words, app: submission.app)
            {
                candidates[place].names.context = learned[context]
                if learned[context] == nil { candidates[place].names.looseContext = context }
            }
        }
    }

    /// Puts the candidates in key order, each once; further copies wait for the fate of the first.
    mutating func settleRepeats() {
        // Places are sorted and not candidates, which are big. The first of equals stays the first.
        let order = candidates.indices.sorted { left, right in
            let (one, other) = (candidates[left].identity, candidates[right].identity)
            return one < other || one == other && left < right
        }
        var first: [Candidate] = []
        first.reserveCapacity(candidates.count)
        for place in order {
            let identity = candidates[place].identity
            if first.last?.identity == identity {
                repeats[identity, default: []].append((candidates[place].submission, candidates[place].event))
            } else {
                first.append(candidates[place])
            }
        }
        candidates = first
    }

    /// Copies within the batch, by place: they share the fate of the first one.
    private var repeats: [Identity: [(submission: Int, event: Int)]] = [:]

    /// Refuses an event that had been let through, and its copies with it.
    mutating func reject(_ candidate: Candidate, _ rejection: Rejection) {
        let copies = repeats.removeValue(forKey: candidate.identity) ?? []
        for (place, index) in [(candidate.submission, candidate.event)] + copies {
            let submission = submissions[place]
            let event = submission.events[index]
            verdicts[place][index] = .rejected(rejection)
            untold.append((place, index))
            pending.tally.count(rejection.reason, for: Tally.Key(of: submission))
            fresh.append(
                Refusal(
                    RejectedEvent(id: event.id, rejection: rejection, raw: submission.raw(index)),
                    install: event.source.installID, source: source(of: place), of: submission))
        }
    }

    /// Says of an event, and of its copies, that the log holds it.
    mutating func settleKnown(_ candidate: Candidate) {
        let copies = repeats.removeValue(forKey: candidate.identity) ?? []
        for (place, index) in [(candidate.submission, candidate.event)] + copies {
            verdicts[place][index] = .duplicate
            untold.append((place, index))
            pending.tally.count(
                submissions[place].events[index], .duplicate, for: Tally.Key(of: submissions[place]))
        }
    }

    /// Found once for all refusals of an envelope, which share it.
    private mutating func source(of place: Int) -> String? {
        if let source = sources[place] { return source }
        let source = submissions[place].source()
        sources[place] = .some(source)
        return source
    }

    /// Takes what was refused lately: the same raw event of an app once.
    mutating func takeFreshRefusals() -> [Refusal] {
        defer { fresh = [] }
        var seen = Set(pending.refusals.map(\.identity))
        return fresh.filter { seen.insert($0.identity).inserted }
    }

    /// Has the next transaction keep these.
    mutating func keep(_ refusals: [Refusal]) {
        pending.refusals += refusals
    }

    /// Leaves nothing in what is told that would bring an erased install back; gives the refusals that were to be kept.
    mutating func withdrawErased(by removed: RemovedHistory) -> [Refusal] {
        fresh.removeAll { removed.hasErased($0.install, app: $0.app) }
        for place in pending.drops.indices
        where removed.hasErased(pending.drops[place].install, app: pending.drops[place].app) {
            pending.drops[place].install = nil
        }
        let withdrawn = pending.refusals.filter { removed.hasErased($0.install, app: $0.app) }
        pending.refusals.removeAll { removed.hasErased($0.install, app: $0.app) }
        return withdrawn
    }

    /// Those that were to be kept and are not yet.
    var unstoredRefusals: [Refusal] { pending.refusals }

    /// Whether a transaction without events must still be made.
    var hasSomethingToTell: Bool { !pending.tally.counts.isEmpty || !fresh.isEmpty }

    /// What a transaction that stores these candidates tells: what is pending, and their own counts.
    func news(of stored: ArraySlice<Candidate>, known: Set<Int>) -> News {
        var news = pending
        for (offset, candidate) in stored.enumerated() {
            let verdict = known.contains(offset) ? Verdict.duplicate : .accepted
            let key = Tally.Key(of: submissions[candidate.submission])
            news.tally.count(submissions[candidate.submission].events[candidate.event], verdict, for: key)
            if verdict == .accepted, !candidate.names.others.isEmpty { news.tally.countOther(for: key) }
            if repeats.isEmpty { continue }
            for (place, index) in repeats[candidate.identity] ?? [] {
                news.tally.count(submissions[place].events[index], .duplicate, for: Tally.Key(of: submissions[place]))
            }
        }
        return news
    }

    /// The transaction has been committed.
    mutating func settle(_ stored: ArraySlice<Candidate>, known: Set<Int>) {
        (pending, untold, hasTold) = (News(), [], true)
        for (offset, candidate) in stored.enumerated() {
            verdicts[candidate.submission][candidate.event] = known.contains(offset) ? .duplicate : .accepted
            if repeats.isEmpty { continue }
            for (place, index) in repeats[candidate.identity] ?? [] { verdicts[place][index] = .duplicate }
        }
    }

    /// What became of each event, nil for a submission that was left out; nil while there is an event of which nobody knows.
    var settledVerdicts: [[Verdict]?]? {
        var settled: [[Verdict]?] = []
        for (place, verdicts) in verdicts.enumerated() {
            let known = leftOut.contains(place) ? nil : verdicts.compactMap(\.self)
            if let known, known.count < verdicts.count { return nil }
            settled.append(known)
        }
        return settled
    }
}
