internal import ServiceRuntime

/// What a commit of events does, one after another.
package enum CommitPhase: Int, WorkPhase {
    /// Before it begins: since the first of its requests came, or since the commit before it began.
    case wait
    case words, probe, copy, number, commit

    package var name: String {
        switch self {
        case .wait: "wait"
        case .words: "words"
        case .probe: "probe"
        case .copy: "copy"
        case .number: "number"
        case .commit: "commit"
        }
    }

    /// What is done in this phase, for people.
    package var meaning: String {
        switch self {
        case .wait: "waiting for the commit before it"
        case .words: "looking up words and removals"
        case .probe: "looking for events that the log has already"
        case .copy: "storing the events"
        case .number: "taking the next number of the log, one commit after another"
        case .commit: "getting the commit onto the disk, and to standbys that it waits for"
        }
    }
}
