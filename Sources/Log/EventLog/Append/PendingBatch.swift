internal import Envelopes
internal import Postgres
internal import Telemetry
internal import Values

/// What one call to the appender must store, and what is known about it so far.
struct PendingBatch {
    /// Identifies an event.
    struct Identity: Hashable, Comparable {
        let deviceAt: Timestamp
        let id: UUID
        let install: UUID
        let app: Int32

        /// The same order for all writers, so that no two wait for each other.
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
        /// Distinguishes it from other events with the same time and hash.
        var tie: Int16 = 0

        var place: Place { Place(submission: submission, event: event) }
    }

    /// The place of an event in the batch.
    struct Place: Hashable {
        let submission: Int
        let event: Int
    }

    /// What one transaction stores besides its events.
    struct News {
        var refusals: [Refusal] = []
        var drops: [DropReport] = []
        var tally = BatchCounts()
    }

    let submissions: [Submission]
    private(set) var candidates: [Candidate] = []
    /// The state of each event of each submission, by its index in the envelope.
    private var verdicts: [[Settled]]
    /// The rejections of the rejected events.
    private var rejections: [Place: Rejection] = [:]
    /// Submissions that are left out, and what to say of them: their keys are closed, or their events belong elsewhere.
    private var leftOut: [Int: Settlement] = [:]
    /// Verdicts that the next commit must record.
    private var untold: [Place] = []
    /// Whether a commit has recorded what the submissions have besides storable events.
    private var hasTold = false
    /// For the next transaction that commits.
    private var pending = News()
    /// Rejected events for which the allowance has not been asked.
    private var fresh: [Refusal] = []
    private var sources: [Int: String?] = [:]

    /// Words that the cache did not have, and the candidates that have them.
    private var unknown: [(candidate: Int, key: WordCache.Key)] = []
    private var loose: [Place: LooseCombinations] = [:]

    /// What a commit has settled.
    private enum Settled { case not, accepted, duplicate, rejected }

    init(_ submissions: [Submission]) {
        self.submissions = submissions
        verdicts = submissions.map { [Settled](repeating: .not, count: $0.envelope.count) }
    }

    /// What must not come into this database.
    struct Exclusions {
        var closedKeys: Set<Int32> = []
        /// Shards that other cells have, of so many.
        var elsewhere: Set<Int16> = []
        var shards = Shard.most
        /// Apps that this database does not know yet.
        var unknownApps: Set<Int32> = []

        /// What to say of a submission that must not come in.
        func settlement(of submission: Submission) -> Settlement? {
            if closedKeys.contains(submission.key) { return .keyClosed }
            if unknownApps.contains(submission.app) { return .elsewhere }
            guard !elsewhere.isEmpty else { return nil }
            let isElsewhere = submission.indexes.contains { event in
                elsewhere.contains(Shard.of(submission.envelope.install(of: event), among: shards))
            }
            return isElsewhere ? .elsewhere : nil
        }
    }

    /// Begins with what no commit has settled, but leaves out what must not come in.
    mutating func begin(without exclusions: Exclusions = Exclusions()) {
        for place in untold { verdicts[place.submission][place.event] = .not }
        untold = []
        candidates = []
        unknown = []
        loose = [:]
        repeats = [:]
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

    /// Makes a candidate of every unsettled event.
    mutating func makeCandidates() {
        candidates.reserveCapacity(submissions.reduce(0) { $0 + $1.indexes.count })
        for (index, submission) in submissions.enumerated() where leftOut[index] == nil {
            let envelope = submission.envelope
            for event in submission.indexes where verdicts[index][event] == .not {
                let identity = Identity(
                    deviceAt: envelope.events[event].deviceAt, id: envelope.events[event].id,
                    install: envelope.install(of: event), app: submission.app)
                candidates.append(Candidate(submission: index, event: event, identity: identity))
            }
        }
    }

    /// Gives the candidates the ids of words that the cache knows. Returns the words that it does not know, each with
    /// who brought it first.
    mutating func nameCandidates(_ cache: inout WordCache) -> [WordGroup: [Word: WordOrigin]] {
        var asked: [WordGroup: [Word: WordOrigin]] = [:]
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
                    asked[group, default: [:]][word] = WordOrigin(
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

    /// Visits the candidates with their envelopes; `before` is the one before it in the same envelope.
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

    /// Whether the cache lacks words of this candidate's device. Valid only for the candidate that was looked up last.
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

    /// Who brings a word: one key, and one install, can add only so many.
    struct WordOrigin {
        let key: Int32
        let install: UUID
    }

    /// The result of learning a word.
    struct LearnedWord {
        let id: Int32
        /// Whether it was not learned; then this is the id of the reserved word.
        let isOther: Bool
    }

    /// Fills in the ids that were learned.
    mutating func completeCandidates(_ learned: [WordCache.Key: LearnedWord]) throws(PostgresError) {
        for (index, key) in unknown {
            guard let word = learned[key] else { throw .decoding("the dictionary returned no id for a word") }
            candidates[index].words[key.kind] = word.id
            if word.isOther { candidates[index].names.others.insert(key.kind) }
        }
        unknown = []
    }

    /// Gives each candidate the ids of its device and context that the cache knows, and returns the combinations that
    /// it does not know.
    mutating func combineCandidates(_ cache: CombinationCache) -> [CombinationGroup: [Combination]] {
        var unknown: Set<Combination> = []
        forEachInItsEnvelope { batch, index, before, envelope in
            let words = batch.candidates[index].words
            let app = batch.candidates[index].identity.app
            let event = batch.candidates[index].event
            let source = envelope.events[event].source
            var names = batch.candidates[index].names
            (names.word1, names.word2) = words.own(of: envelope.events[event].type)
            // Mostly the same as those of the event before it.
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

    /// Fills in the learned ids. A combination for which there is no room goes into the event's own row.
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

    /// The device and context of a candidate that have no row in the dictionaries.
    func looseCombinations(of candidate: Candidate) -> LooseCombinations? {
        loose.isEmpty ? nil : loose[candidate.place]
    }

    /// Sorts the candidates by key and removes repeats, which get the verdict of the first copy.
    mutating func settleRepeats() {
        // The events of one phone mostly come in order.
        let isInOrder = candidates.indices.dropFirst().allSatisfy { index in
            candidates[index - 1].identity < candidates[index].identity
        }
        if isInOrder { return }
        // Sorts places instead of candidates, which are big. The first of equal ones stays first.
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

    /// Copies within the batch, which get the verdict of the first one.
    private var repeats: [Identity: [Place]] = [:]

    /// Rejects an event that was valid until now, and its copies.
    mutating func reject(_ candidate: Candidate, _ rejection: Rejection) {
        let copies = repeats.removeValue(forKey: candidate.identity) ?? []
        for place in [candidate.place] + copies {
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
    mutating func settleKnown(_ candidate: Candidate) {
        let copies = repeats.removeValue(forKey: candidate.identity) ?? []
        for place in [candidate.place] + copies {
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

    /// What a transaction with these candidates records: what is pending, and their own counts.
    func news(of stored: ArraySlice<Candidate>, known: Set<Int>) -> News {
        var news = pending
        var counts = BatchCounts.Counts()
        var counted = -1
        // The candidates of a submission are mostly consecutive.
        func add() {
            if counted >= 0 { news.tally.add(counts, for: BatchCounts.Key(of: submissions[counted])) }
            counts = BatchCounts.Counts()
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
                news.tally.countDuplicate(for: BatchCounts.Key(of: submissions[place.submission]))
            }
        }
        add()
        return news
    }

    /// Settles these after the commit.
    mutating func settle(_ stored: ArraySlice<Candidate>, known: Set<Int>) {
        (pending, untold, hasTold) = (News(), [], true)
        for (offset, candidate) in stored.enumerated() {
            let isKnown = !known.isEmpty && known.contains(offset)
            verdicts[candidate.submission][candidate.event] = isKnown ? .duplicate : .accepted
            if repeats.isEmpty { continue }
            for place in repeats[candidate.identity] ?? [] { verdicts[place.submission][place.event] = .duplicate }
        }
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
                    guard let rejection = rejections[Place(submission: index, event: event)] else { return nil }
                    exceptions.append((event, .rejected(rejection)))
                }
            }
            settled.append(.settled(Verdicts(count: submission.indexes.count, exceptions: exceptions)))
        }
        return settled
    }
}
