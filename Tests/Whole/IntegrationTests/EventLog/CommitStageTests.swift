import Envelopes
import Telemetry
import TestSupport
import Testing
import Values

@testable import EventLog

/// Each stage of a commit is a value: these need no database.
@Suite("The stages of a commit")
struct CommitStageTests {
    private let early = Event.sample(id: UUID(high: 0, low: 1), at: Event.sampleTime)
    private let late = Event.sample(id: UUID(high: 0, low: 2), at: Event.sampleTime + 1_000_000)

    private func submission(_ events: [Event], app: Int32 = 1, key: Int32 = 1) -> Submission {
        Submission(app: app, key: key, receivedAt: Event.sampleTime + 2_000_000, events: events)
    }

    private func verdicts(_ ledger: Ledger) -> [[Verdict]]? {
        guard let settlements = ledger.settlements else { return nil }
        return zip(ledger.submissions, settlements).map { submission, settlement in
            if case .settled(let verdicts) = settlement { verdicts.each(of: submission) } else { [] }
        }
    }

    @Test("candidates are ordered by identity and told once; each copy gets the verdict of a repeat")
    func unique() {
        var ledger = Ledger([submission([late, early]), submission([late])])
        ledger.begin()
        let unique = UniqueEvents(ledger.candidates)
        #expect(unique.candidates.map(\.identity.id) == [early.id, late.id])
        #expect(unique.candidates.map(\.place.event) == [1, 0])
        #expect(unique.copies(of: unique.candidates[0]).isEmpty)
        #expect(unique.copies(of: unique.candidates[1]) == [Candidate.Place(submission: 1, event: 0)])
        #expect(verdicts(ledger) == nil)
        let counts = ledger.news(of: unique).tally.counts.values
        #expect(counts.reduce(0) { $0 + $1.accepted } == 2 && counts.reduce(0) { $0 + $1.duplicate } == 1)
        ledger.settle(unique)
        #expect(verdicts(ledger) == [[.accepted, .accepted], [.duplicate]])
        #expect(!ledger.hasSomethingToTell)
    }

    @Test("what the log has is a duplicate, and its copies with it")
    func known() {
        var ledger = Ledger([submission([early, early])])
        ledger.begin()
        var unique = UniqueEvents(ledger.candidates)
        unique.candidates[0].isKnown = true
        let counts = ledger.news(of: unique).tally.counts.values
        #expect(counts.reduce(0) { $0 + $1.accepted } == 0 && counts.reduce(0) { $0 + $1.duplicate } == 2)
        ledger.settle(unique)
        #expect(verdicts(ledger) == [[.duplicate, .duplicate]])
    }

    @Test("a rejection before a commit is open again if the commit fails, and settled if it succeeds")
    func rejected() {
        let rejection = Rejection(.unstorable, "because")
        var ledger = Ledger([submission([early, late])])
        ledger.begin()
        for commits in [false, true] {
            #expect(ledger.candidates.count == 2)
            var unique = UniqueEvents(ledger.candidates)
            ledger.reject(unique.candidates.removeFirst(), rejection, in: unique)
            #expect(ledger.takeFreshRefusals().map(\.event.index) == [0])
            if commits { ledger.settle(unique) } else { ledger.begin() }
        }
        #expect(verdicts(ledger) == [[.rejected(rejection), .accepted]])
    }

    @Test("what a commit has settled is no candidate again")
    func halves() {
        var ledger = Ledger([submission([early, late])])
        ledger.begin()
        let (left, right) = UniqueEvents(ledger.candidates).halves
        #expect(left.candidates.map(\.identity.id) == [early.id] && right.candidates.map(\.identity.id) == [late.id])
        ledger.settle(left)
        ledger.begin()
        #expect(ledger.candidates.map(\.identity.id) == [late.id])
    }

    @Test("a submission that must not come in has no candidates and a word of its own")
    func exclusions() {
        var ledger = Ledger([submission([early], key: 1), submission([late], key: 2), submission([late], app: 9)])
        ledger.begin(without: Exclusions(closedKeys: [2], unknownApps: [9]))
        #expect(ledger.candidates.map(\.place.submission) == [0] && ledger.isForElsewhere)
        ledger.settle(UniqueEvents(ledger.candidates))
        let settlements = ledger.settlements ?? []
        #expect(settlements.count == 3)
        guard settlements.count == 3, case .settled = settlements[0], case .keyClosed = settlements[1],
            case .elsewhere = settlements[2]
        else {
            Issue.record("\(settlements)")
            return
        }
    }

    @Test("each word is asked for once, with who brought it first, and an event next to it shares the answer")
    func naming() throws {
        let submissions = [submission([Event.sample(category: "news"), Event.sample(category: "news")])]
        var ledger = Ledger(submissions)
        ledger.begin()
        var (words, combinations) = (WordCache(), CombinationCache())
        var naming = Naming(ledger.candidates, of: submissions)
        let asked = naming.look(in: &words)
        #expect(!asked.isEmpty && asked.values.allSatisfy { $0.count == 1 })
        let keys = asked.flatMap { group, words in
            words.keys.map { WordCache.Key(app: group.app, kind: group.kind, word: $0) }
        }
        let learned = keys.enumerated().map { number, key in
            (key, Naming.LearnedWord(id: Int32(number + 1), isOther: false))
        }
        try naming.complete(Dictionary(uniqueKeysWithValues: learned))
        for (key, word) in learned { words.insert(word.id, for: key) }
        #expect(Set(naming.candidates.map { $0.words[.category] }).count == 1)
        #expect(naming.candidates.allSatisfy { $0.words[.category] != 0 && $0.names.others.isEmpty })

        // A combination without a row goes with the event.
        let unknown = naming.combine(in: combinations).values.flatMap { $0 }
        naming.complete(combinations: [:])
        #expect(naming.loose.count == 2)
        for (number, combination) in unknown.enumerated() { combinations.insert(Int32(number + 1), for: combination) }

        // The next batch has to ask for nothing.
        var next = Naming(ledger.candidates, of: submissions)
        #expect(next.look(in: &words).isEmpty && next.combine(in: combinations).isEmpty)
        #expect(next.candidates.allSatisfy { $0.names.context != nil } && next.loose.isEmpty)
    }

    @Test("a word that the dictionary gave no id stops the batch")
    func missingWord() {
        let submissions = [submission([Event.sample(category: "news")])]
        var ledger = Ledger(submissions)
        ledger.begin()
        var words = WordCache()
        var naming = Naming(ledger.candidates, of: submissions)
        #expect(!naming.look(in: &words).isEmpty)
        #expect(throws: (any Error).self) { try naming.complete([:]) }
    }
}
