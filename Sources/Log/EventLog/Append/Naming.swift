internal import Envelopes
internal import Postgres
internal import Telemetry
internal import Values

/// The stage in which candidates get the ids of their words, and of the devices and contexts that words make. It says
/// which ids it lacks; `WordResolver` asks for these.
struct Naming {
    let submissions: [Submission]
    private(set) var candidates: [Candidate]
    /// The devices and contexts of those candidates for which the dictionaries have no row.
    private(set) var loose: [Candidate.Place: LooseCombinations] = [:]
    /// Words that the cache did not have, and the candidates that have them.
    private var unknown: [(candidate: Int, key: WordCache.Key)] = []

    init(_ candidates: [Candidate], of submissions: [Submission]) {
        (self.candidates, self.submissions) = (candidates, submissions)
    }

    /// Gives the candidates the ids of words that the cache knows. Returns the words that it does not know, each with
    /// who brought it first.
    mutating func look(in cache: inout WordCache) -> [WordGroup: [Word: WordOrigin]] {
        var asked: [WordGroup: [Word: WordOrigin]] = [:]
        // What an event shares with the one before it in its envelope is not looked up again.
        forEachInItsEnvelope { batch, index, before, envelope in
            let app = batch.candidates[index].identity.app
            let event = batch.candidates[index].place.event
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
                        key: batch.submissions[batch.candidates[index].place.submission].key,
                        install: batch.candidates[index].identity.install)
                }
            }
            let source = envelope.events[event].source
            let sharesDevice =
                before.map { before in
                    source == envelope.events[batch.candidates[before].place.event].source
                        && !batch.hasUnknownDevice(before)
                } ?? false
            for slot in EventRecord.Slot.context {
                let slice = envelope.events[event].texts[slot]
                if slice.isEmpty { continue }
                let kind = EventRecord.contextWords[slot]
                if let before, slice == envelope.events[batch.candidates[before].place.event].texts[slot],
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
        _ body: (_ batch: inout Naming, _ index: Int, _ before: Int?, _ envelope: DecodedEnvelope) -> Void
    ) {
        var index = 0
        while index < candidates.count {
            let submission = candidates[index].place.submission
            let envelope = submissions[submission].envelope
            var before: Int?
            while index < candidates.count, candidates[index].place.submission == submission {
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
    mutating func complete(_ learned: [WordCache.Key: LearnedWord]) throws(PostgresError) {
        for (index, key) in unknown {
            guard let word = learned[key] else { throw .decoding("the dictionary returned no id for a word") }
            candidates[index].words[key.kind] = word.id
            if word.isOther { candidates[index].names.others.insert(key.kind) }
        }
        unknown = []
    }

    /// Gives each candidate the ids of its device and context that the cache knows, and returns the combinations that
    /// it does not know.
    mutating func combine(in cache: CombinationCache) -> [CombinationGroup: [Combination]] {
        var unknown: Set<Combination> = []
        forEachInItsEnvelope { batch, index, before, envelope in
            let words = batch.candidates[index].words
            let app = batch.candidates[index].identity.app
            let event = batch.candidates[index].place.event
            let source = envelope.events[event].source
            var names = batch.candidates[index].names
            (names.word1, names.word2) = words.own(of: envelope.events[event].type)
            // Mostly the same as those of the event before it.
            if let before {
                let last = batch.candidates[before]
                if source == envelope.events[last.place.event].source { names.device = last.names.device }
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
    mutating func complete(combinations learned: [Combination: Int32]) {
        for index in candidates.indices {
            let words = candidates[index].words
            let submission = submissions[candidates[index].place.submission]
            if candidates[index].names.device == nil {
                let source = submission.envelope.events[candidates[index].place.event].source
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
}
