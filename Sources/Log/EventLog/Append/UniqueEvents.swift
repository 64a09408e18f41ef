internal import Envelopes
internal import Telemetry
internal import Values

/// The stage after the names: candidates in the order of their identities, each identity once. Copies within the batch
/// get the verdict of the first one.
struct UniqueEvents {
    var candidates: [Candidate]
    private let loose: [Candidate.Place: LooseCombinations]
    private let repeats: [Candidate.Identity: [Candidate.Place]]

    init(_ candidates: [Candidate], loose: [Candidate.Place: LooseCombinations] = [:]) {
        self.loose = loose
        // The events of one phone mostly come in order.
        let isInOrder = candidates.indices.dropFirst().allSatisfy { index in
            candidates[index - 1].identity < candidates[index].identity
        }
        if isInOrder {
            (self.candidates, repeats) = (candidates, [:])
            return
        }
        // Sorts places instead of candidates, which are big. The first of equal ones stays first.
        let order = candidates.indices.sorted { left, right in
            let (one, other) = (candidates[left].identity, candidates[right].identity)
            return one < other || one == other && left < right
        }
        var first: [Candidate] = []
        var repeats: [Candidate.Identity: [Candidate.Place]] = [:]
        first.reserveCapacity(candidates.count)
        for index in order {
            let identity = candidates[index].identity
            if first.last?.identity == identity {
                repeats[identity, default: []].append(candidates[index].place)
            } else {
                first.append(candidates[index])
            }
        }
        (self.candidates, self.repeats) = (first, repeats)
    }

    /// The places of a candidate's copies.
    func copies(of candidate: Candidate) -> [Candidate.Place] {
        repeats.isEmpty ? [] : repeats[candidate.identity] ?? []
    }

    /// The device and context of a candidate that have no row in the dictionaries.
    func looseCombinations(of candidate: Candidate) -> LooseCombinations? {
        loose.isEmpty ? nil : loose[candidate.place]
    }

    /// Both halves, to find out in which the event at fault is.
    var halves: (UniqueEvents, UniqueEvents) {
        var (left, right) = (self, self)
        let middle = candidates.count / 2
        left.candidates = Array(candidates[..<middle])
        right.candidates = Array(candidates[middle...])
        return (left, right)
    }

    /// Takes out the events that must not come back: those from before an erasure or of a closed month, each with the
    /// reason.
    mutating func takeRemoved(
        by removed: RemovedHistory, of submissions: [Submission]
    ) -> [(candidate: Candidate, rejection: Rejection)] {
        guard !removed.isEmpty else { return [] }
        var (others, taken): ([Candidate], [(Candidate, Rejection)]) = ([], [])
        for candidate in candidates {
            let identity = candidate.identity
            if let rejection = removed.rejection(
                of: submissions.event(at: candidate.place), install: identity.install, app: identity.app)
            {
                taken.append((candidate, rejection))
            } else {
                others.append(candidate)
            }
        }
        if !taken.isEmpty { candidates = others }
        return taken
    }
}
