internal import Envelopes
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

        /// One order for all writers, so that two never wait for each other in a ring.
        static func < (left: Identity, right: Identity) -> Bool {
            (left.deviceAt, left.id, left.install, left.app) < (right.deviceAt, right.id, right.install, right.app)
        }
    }

    /// An event that may go into the log.
    struct Candidate {
        /// Its place among the submissions.
        let submission: Int
        /// Its index in the envelope.
        let event: Int
        let identity: Identity
        var words = WordIDs()
        var names = Names()
        /// What tells it apart from other events of the same time and hash.
        var tie: Int16 = 0

        var place: Place { Place(submission: submission, event: event) }
    }

    /// Where an event stands in the batch.
    struct Place: Hashable {
        let submission: Int
        let event: Int
    }

    /// What one transaction tells beside its events.
    struct News {
        var refusals: [Refusal] = []
        var drops: [DropReport] = []
        var tally = Tally()
    }

    let submissions: [Submission]
    private(set) var candidates: [Candidate] = []
    /// Of each event of each submission, by its index in the envelope.
    private var verdicts: [[Settled]]
    /// Of those events that were rejected.
    private var rejections: [Place: Rejection] = [:]
    /// Whose submissions are left out: their keys are closed.
    private var leftOut: Set<Int> = []
    /// Verdicts that wait for the next commit, which tells of them.
    private var untold: [Place] = []
    /// A commit has told what the submissions brought beside events that may be stored.
    private var hasTold = false
    /// Said by the next transaction that commits.
    private var pending = News()
    /// Refused, and not yet asked whether that may still be kept.
    private var fresh: [Refusal] = []
    private var sources: [Int: String?] = [:]

    /// Words that the cache did not have, and the candidates that have them.
    private var unknown: [(candidate: Int, key: WordCache.Key)] = []
    private var loose: [Place: LooseCombinations] = [:]

    /// What a commit vouches for.
    private enum Settled { case not, accepted, duplicate, rejected }

    init(_ submissions: [Submission]) {
        self.submissions = submissions
        verdicts = submissions.map { [Settled](repeating: .not, count: $0.envelope.count) }
    }

    /// Begins with what no commit has settled yet, without what comes with these keys.
    mutating func begin(without closedKeys: Set<Int32>) {
        for place in untold { verdicts[place.submission][place.event] = .not }
        untold = []
        candidates = []
        unknown = []
        loose = [:]
        repeats = [:]
        pending = News()
        fresh = []
        leftOut = closedKeys.isEmpty ? [] : Set(submissions.indices.filter { closedKeys.contains(submissions[$0].key) })
        if hasTold { return }
        for (index, submission) in submissions.enumerated() where !leftOut.contains(index) {
            let key = Tally.Key(of: submission)
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

    /// Makes a candidate of every event that is not settled.
    mutating func makeCandidates() {
        candidates.reserveCapacity(submissions.reduce(0) { $0 + $1.indexes.count })
        for (index, submission) in submissions.enumerated() where !leftOut.contains(index) {
            let envelope = submission.envelope
            for event in submission.indexes where verdicts[index][event] == .not {
                let identity = Identity(
                    deviceAt: envelope.events[event].deviceAt, id: envelope.events[event].id,
                    install: envelope.install(of: event), app: submission.app)
                candidates.append(Candidate(submission: index, event: event, identity: identity))
            }
        }
    }

    /// Gives the candidates the ids of words that the cache knows, and says which it does not know, each with who brought it
    /// first.
    mutating func nameCandidates(_ cache: inout WordCache) -> [WordGroup: [Word: Teacher]] {
        var asked: [WordGroup: [Word: Teacher]] = [:]
        // What an event shares with the one before it in its envelope is not looked up again.
        forEachInItsEnvelope { batch, index, before, envelope in
            let app = batch.candidates[index].identity.app
            let event = batch.candidates[index].event
            var words = WordIDs()
            func look(_ kind: WordKind, _ slice: TextSlice) {
                guard !slice.isEmpty else { return }
                if let id = cache.id(of: slice, in: envelope.texts, kind, app: app) {
                    words[kind] = id
                    return
                }
                let word = Word(envelope.text(slice))
                batch.unknown.append((index, WordCache.Key(app: app, kind: kind, word: word)))
                let group = WordGroup(app: app, kind: kind)
                if asked[group]?[word] == nil {
                    asked[group, default: [:]][word] = Teacher(
                        key: batch.submissions[batch.candidates[index].submission].key,
                        install: batch.candidates[index].identity.install)
                }
            }
            let source = envelope.events[event].source
            let sharesDevice =
                before.map { before in
                    source == envelope.events[batch.candidates[before].event].source && !batch.hasUnknownDevice(before)
                } ?? false
            for slot in EventRecord.Slot.context {
                let slice = envelope.events[event].texts[slot]
                if slice.isEmpty { continue }
                let kind = EventRecord.contextWords[slot]
                if let before, slice == envelope.events[batch.candidates[before].event].texts[slot],
                    batch.candidates[before].words[kind] != 0
                {
                    words[kind] = batch.candidates[before].words[kind]
                } else {
                    look(kind, slice)
                }
            }
            if sharesDevice, let before {
                words.copyDevice(of: batch.candidates[before].words)
            } else {
                for (slot, kind) in SourceRecord.words.enumerated() {
                    look(kind, envelope.sources[Int(source)].texts[slot])
                }
            }
            let (first, second) = EventRecord.ownWords(of: envelope.events[event].type)
            let own = EventRecord.Slot.own.lowerBound
            if let first { look(first, envelope.events[event].texts[own]) }
            if let second { look(second, envelope.events[event].texts[own + 1]) }
            batch.candidates[index].words = words
        }
        return asked
    }

    /// Goes through the candidates with their envelopes; `before` is the one before it in the same envelope.
    private mutating func forEachInItsEnvelope(
        _ body: (_ batch: inout PendingBatch, _ index: Int, _ before: Int?, _ envelope: DecodedEnvelope) -> Void
    ) {
        var index = 0
        while index < candidates.count {
            let submission = candidates[index].submission
            let envelope = submissions[submission].envelope
            var before: Int?
            while index < candidates.count, candidates[index].submission == submission {
                body(&self, index, before, envelope)
                before = index
                index += 1
            }
        }
    }

    /// Whether the cache did not have all words of this candidate's device. Asked while it is the last that was looked at.
    private func hasUnknownDevice(_ candidate: Int) -> Bool {
        unknown.last?.candidate == candidate
            && unknown.reversed().prefix { $0.candidate == candidate }.contains {
                SourceRecord.words.contains($0.key.kind)
            }
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
        for (index, key) in unknown {
            guard let lesson = learned[key] else { throw .decoding("the dictionary returned no id for a word") }
            candidates[index].words[key.kind] = lesson.id
            if lesson.isOther { candidates[index].names.others.insert(key.kind) }
        }
        unknown = []
    }

    /// Gives each candidate the ids of its device and context that the cache knows, and says which it does not.
    mutating func combineCandidates(_ cache: CombinationCache) -> [CombinationGroup: [Combination]] {
        var unknown: Set<Combination> = []
        forEachInItsEnvelope { batch, index, before, envelope in
            let words = batch.candidates[index].words
            let app = batch.candidates[index].identity.app
            let event = batch.candidates[index].event
            let source = envelope.events[event].source
            var names = batch.candidates[index].names
            (names.word1, names.word2) = words.own(of: envelope.events[event].type)
            // As those of the event before it, mostly.
            if let before {
                let last = batch.candidates[before]
                if source == envelope.events[last.event].source { names.device = last.names.device }
                if words.sharesContext(with: last.words) { names.context = last.names.context }
            }
            if names.device == nil,
                let device = Combination(deviceOf: envelope.sources[Int(source)], words, app: app)
            {
                names.device = cache.id(of: device)
                if names.device == nil { unknown.insert(device) }
            }
            if names.context == nil, let context = Combination(contextOf: words, app: app) {
                names.context = cache.id(of: context)
                if names.context == nil { unknown.insert(context) }
            }
            batch.candidates[index].names = names
        }
        return Dictionary(grouping: unknown) { CombinationGroup(app: $0.app, dictionary: $0.dictionary) }
    }

    struct CombinationGroup: Hashable {
        let app: Int32
        let dictionary: Combination.Dictionary
    }

    /// Fills in what was learned. A combination for which there is no room stands in the event's own row.
    mutating func completeCombinations(_ learned: [Combination: Int32]) {
        for index in candidates.indices {
            let words = candidates[index].words
            let submission = submissions[candidates[index].submission]
            if candidates[index].names.device == nil {
                let source = submission.envelope.events[candidates[index].event].source
                let device = Combination(
                    deviceOf: submission.envelope.sources[Int(source)], words, app: submission.app)
                candidates[index].names.device = device.flatMap { learned[$0] }
                if let device, learned[device] == nil {
                    loose[candidates[index].place, default: LooseCombinations()].device = device
                }
            }
            if candidates[index].names.context == nil {
                let context = Combination(contextOf: words, app: submission.app)
                candidates[index].names.context = context.flatMap { learned[$0] }
                if let context, learned[context] == nil {
                    loose[candidates[index].place, default: LooseCombinations()].context = context
                }
            }
        }
    }

    /// What of a candidate has no row of its own in the dictionaries.
    func looseCombinations(of candidate: Candidate) -> LooseCombinations? {
        loose.isEmpty ? nil : loose[candidate.place]
    }

    /// Puts the candidates in key order, each once; further copies wait for the fate of the first.
    mutating func settleRepeats() {
        // What one phone sends mostly stands in order.
        let isInOrder = candidates.indices.dropFirst().allSatisfy { index in
            candidates[index - 1].identity < candidates[index].identity
        }
        if isInOrder { return }
        // Places are sorted and not candidates, which are big. The first of equals stays the first.
        let order = candidates.indices.sorted { left, right in
            let (one, other) = (candidates[left].identity, candidates[right].identity)
            return one < other || one == other && left < right
        }
        var first: [Candidate] = []
        first.reserveCapacity(candidates.count)
        for index in order {
            let identity = candidates[index].identity
            if first.last?.identity == identity {
                repeats[identity, default: []].append(candidates[index].place)
            } else {
                first.append(candidates[index])
            }
        }
        candidates = first
    }

    /// Copies within the batch: they share the fate of the first one.
    private var repeats: [Identity: [Place]] = [:]

    /// Refuses an event that had been let through, and its copies with it.
    mutating func reject(_ candidate: Candidate, _ rejection: Rejection) {
        let copies = repeats.removeValue(forKey: candidate.identity) ?? []
        for place in [candidate.place] + copies {
            let submission = submissions[place.submission]
            verdicts[place.submission][place.event] = .rejected
            rejections[place] = rejection
            untold.append(place)
            pending.tally.count(rejection.reason, for: Tally.Key(of: submission))
            let event = RejectedEvent(
                index: place.event, id: candidate.identity.id, rejection: rejection,
                raw: submission.envelope.rawEvent(place.event))
            fresh.append(
                Refusal(
                    event, install: candidate.identity.install, source: source(of: place.submission), of: submission))
        }
    }

    /// Says of an event, and of its copies, that the log holds it.
    mutating func settleKnown(_ candidate: Candidate) {
        let copies = repeats.removeValue(forKey: candidate.identity) ?? []
        for place in [candidate.place] + copies {
            verdicts[place.submission][place.event] = .duplicate
            untold.append(place)
            pending.tally.countDuplicate(for: Tally.Key(of: submissions[place.submission]))
        }
    }

    /// Found once for all refusals of an envelope, which share it.
    private mutating func source(of index: Int) -> String? {
        if let source = sources[index] { return source }
        let source = submissions[index].envelope.rawSource
        sources[index] = .some(source)
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
        for index in pending.drops.indices
        where removed.hasErased(pending.drops[index].install, app: pending.drops[index].app) {
            pending.drops[index].install = nil
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
        var counts = Tally.Counts()
        var counted = -1
        // The candidates of a submission mostly stand together.
        func add() {
            if counted >= 0 { news.tally.add(counts, for: Tally.Key(of: submissions[counted])) }
            counts = Tally.Counts()
        }
        for (offset, candidate) in stored.enumerated() {
            if candidate.submission != counted {
                add()
                counted = candidate.submission
            }
            if !known.isEmpty, known.contains(offset) {
                counts.duplicate += 1
            } else {
                counts.accept(submissions[counted].envelope.events[candidate.event])
                if !candidate.names.others.isEmpty { counts.other += 1 }
            }
            if repeats.isEmpty { continue }
            for place in repeats[candidate.identity] ?? [] {
                news.tally.countDuplicate(for: Tally.Key(of: submissions[place.submission]))
            }
        }
        add()
        return news
    }

    /// The transaction has been committed.
    mutating func settle(_ stored: ArraySlice<Candidate>, known: Set<Int>) {
        (pending, untold, hasTold) = (News(), [], true)
        for (offset, candidate) in stored.enumerated() {
            let isKnown = !known.isEmpty && known.contains(offset)
            verdicts[candidate.submission][candidate.event] = isKnown ? .duplicate : .accepted
            if repeats.isEmpty { continue }
            for place in repeats[candidate.identity] ?? [] { verdicts[place.submission][place.event] = .duplicate }
        }
    }

    /// What became of each event, nil for a submission that was left out; nil while there is an event of which nobody knows.
    var settledVerdicts: [Verdicts?]? {
        var settled: [Verdicts?] = []
        settled.reserveCapacity(submissions.count)
        for (index, submission) in submissions.enumerated() {
            if leftOut.contains(index) {
                settled.append(nil)
                continue
            }
            var exceptions: [(index: Int, verdict: Verdict)] = []
            for event in submission.indexes {
                switch verdicts[index][event] {
                case .not: return nil
                case .accepted: break
                case .duplicate: exceptions.append((event, .duplicate))
                case .rejected:
                    guard let rejection = rejections[Place(submission: index, event: event)] else { return nil }
                    exceptions.append((event, .rejected(rejection)))
                }
            }
            settled.append(Verdicts(count: submission.indexes.count, exceptions: exceptions))
        }
        return settled
    }
}
