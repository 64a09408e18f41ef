internal import Envelopes
internal import Values

/// An event that may go into the log: from a submission to a row, through all stages of a commit.
struct Candidate {
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

    /// Where an event came from: the one index that leads back from any stage.
    struct Place: Hashable {
        /// Among the submissions.
        let submission: Int
        /// In the submission's envelope.
        let event: Int
    }

    let place: Place
    let identity: Identity
    var words = WordIDs()
    var names = Names()
    /// Distinguishes it from other events with the same time and hash.
    var tie: Int16 = 0
    /// Whether the log has it already, as the last probe found.
    var isKnown = false
}

extension [Submission] {
    func envelope(of place: Candidate.Place) -> DecodedEnvelope { self[place.submission].envelope }

    func event(at place: Candidate.Place) -> EventRecord { self[place.submission].envelope.events[place.event] }
}
