internal import ServiceRuntime

/// What a step does, one after another.
package enum StepPhase: Int, WorkPhase {
    case claim, read, lookUp, fold, write, cells, commit

    package var name: String {
        switch self {
        case .claim: "claim"
        case .read: "read"
        case .lookUp: "look_up"
        case .fold: "fold"
        case .write: "write"
        case .cells: "cells"
        case .commit: "commit"
        }
    }

    /// What is done in this phase, for people.
    package var meaning: String {
        switch self {
        case .claim: "taking shards that nobody else moves"
        case .read: "reading the log"
        case .lookUp: "looking up deliveries and days of installs"
        case .fold: "counting in this program"
        case .write: "writing deliveries and days of installs"
        case .cells: "adding to the counts of the funnels"
        case .commit: "the commit"
        }
    }
}
