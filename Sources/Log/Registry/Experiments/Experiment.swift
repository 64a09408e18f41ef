package import Values

/// An experiment as somebody wants it to be.
package struct Experiment: Sendable, Equatable {
    package var name: String
    package var share: ControlShare
    /// Nil for the one that it has, or else a new one.
    package var salt: String?
    package var starts: Timestamp
    package var ends: Timestamp?
    package var campaigns: [String]
    package var goals: [String]
    /// Its path in its document.
    package var path: String

    package init(
        name: String, share: ControlShare, salt: String? = nil, starts: Timestamp, ends: Timestamp? = nil,
        campaigns: [String] = [], goals: [String] = [], path: String = ""
    ) {
        (self.name, self.share, self.salt, self.starts, self.ends) = (name, share, salt, starts, ends)
        (self.campaigns, self.goals, self.path) = (campaigns, goals, path)
    }

    /// What is wrong with it by itself, member by member.
    package var faults: [Remark] {
        var faults: [Remark] = []
        func add(_ member: String, _ detail: String?) {
            guard let detail else { return }
            faults.append(Remark(path: path.isEmpty ? member : "\(path).\(member)", detail: detail))
        }
        func checkNames(_ names: [String], _ member: String, most: Int) {
            if names.count > most { add(member, "has \(names.count) elements, at most \(most) are allowed") }
            var seen: Set<ExactText> = []
            for (index, name) in names.prefix(most).enumerated() {
                add("\(member)[\(index)]", Self.fault(ofName: name))
                if !seen.insert(ExactText(name)).inserted { add("\(member)[\(index)]", "is given twice") }
            }
        }
        add("name", IdentifierRule.fault(of: name))
        if let salt { add("salt", IdentifierRule.fault(of: salt)) }
        if let ends, ends <= starts { add("ends", "must be after the start") }
        checkNames(campaigns, "campaigns", most: ExperimentLimits.campaigns)
        checkNames(goals, "goals", most: ExperimentLimits.goals)
        return faults
    }

    /// Campaigns and goals are whatever events carry, so any text that an event can hold will do.
    private static func fault(ofName name: String) -> String? {
        if name.isEmpty { return "must not be empty" }
        if name.utf8.count > RegistryLimits.identifier {
            return "has \(name.utf8.count) bytes, at most \(RegistryLimits.identifier) are allowed"
        }
        return name.unicodeScalars.contains("\0") ? "must not contain U+0000" : nil
    }
}

/// Limits for experiments. Each one is counted from the log whenever somebody looks.
package enum ExperimentLimits {
    /// Of an app, those that have ended included.
    package static let experiments = 500
    /// Of an experiment.
    package static let versions = 1000
    package static let campaigns = 100
    /// Each goal is judged by its own part of the 5 %, so more of them find less.
    package static let goals = 10
}

/// What is registered of an experiment now.
package struct RegisteredExperiment: Sendable {
    package let name: String
    package internal(set) var version: Int32
    package let control: String
    package let salt: String
    package let starts: Timestamp
    package internal(set) var ends: Timestamp?
    package let campaigns: [String]
    package let goals: [String]
    package internal(set) var registeredAt: Timestamp
    /// Whether exactly this was registered before.
    package internal(set) var isUnchanged = false

    package enum State: String, CaseIterable, Sendable {
        case notStarted = "not started"
        case running, ended
        case calledOff = "called off"
    }

    /// What it is doing at a moment.
    package func state(at now: Timestamp) -> State {
        if let ends, ends <= starts { return .calledOff }
        if now < starts { return .notStarted }
        if let ends, ends <= now { return .ended }
        return .running
    }
}
