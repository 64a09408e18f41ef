internal import JSON
internal import Values

/// A valid document of experiments, as PUT /v1/experiments takes it.
package struct ExperimentDocument: Sendable {
    package let experiments: [Experiment]

    package init(_ bytes: [UInt8]) throws(RegistryDocumentError) {
        experiments = try RegistryDocument.read(bytes) { root, reader in
            guard let members = reader.members(root, at: .root, known: ["experiments"]) else { return nil }
            return reader.experiments(members["experiments"])
        }
    }
}

extension DocumentReader {
    fileprivate mutating func experiments(_ value: JSONValue?) -> [Experiment] {
        let place = Place.root.member("experiments")
        guard let value else {
            errors.add(place, "is required: an array of experiments")
            return []
        }
        var experiments: [Experiment] = []
        var seen: Set<ExactText> = []
        for (index, element) in (elements(value, at: place, most: ExperimentLimits.experiments) ?? []).enumerated() {
            let place = place.element(index)
            guard let experiment = experiment(element, at: place) else { continue }
            if !seen.insert(ExactText(experiment.name)).inserted { errors.add(place.member("name"), "is given twice") }
            experiments.append(experiment)
        }
        return experiments
    }

    private mutating func experiment(_ value: JSONValue, at place: Place) -> Experiment? {
        let known = ["name", "control", "starts", "ends", "campaigns", "goals", "salt"]
        guard let members = members(value, at: place, known: known) else { return nil }
        let name = identifier(members["name"], at: place.member("name"))
        let share = share(members["control"], at: place.member("control"))
        let starts = time(members["starts"], at: place.member("starts"), isRequired: true)
        let ends = time(members["ends"], at: place.member("ends"), isRequired: false)
        let campaigns = names(members["campaigns"], at: place.member("campaigns"), most: ExperimentLimits.campaigns)
        let goals = names(members["goals"], at: place.member("goals"), most: ExperimentLimits.goals)
        let salt = members["salt"].flatMap { identifier($0, at: place.member("salt")) }
        guard let name, let share, let starts else { return nil }
        let experiment = Experiment(
            name: name, share: share, salt: salt, starts: starts, ends: ends, campaigns: campaigns, goals: goals,
            path: place.path)
        for fault in experiment.faults { errors.add(Place(path: fault.path), fault.detail) }
        return experiment
    }

    private mutating func share(_ value: JSONValue?, at place: Place) -> ControlShare? {
        guard let value else {
            errors.add(place, "is required: how many percent of the installs are in the control arm")
            return nil
        }
        let share = value.number.flatMap { ControlShare(percent: $0.double) }
        if share == nil { errors.add(place, "must be a number over 0 and under 100") }
        return share
    }

    private mutating func time(_ value: JSONValue?, at place: Place, isRequired: Bool) -> Timestamp? {
        guard let value else {
            if isRequired { errors.add(place, "is required") }
            return nil
        }
        let time = value.text.flatMap { Timestamp(rfc3339: $0.string) }
        guard let time, Timestamp.plausible.contains(time) else {
            errors.add(place, "must be a time with its offset, such as 2026-11-20T09:30:00Z")
            return nil
        }
        return time
    }

    private mutating func names(_ value: JSONValue?, at place: Place, most: Int) -> [String] {
        guard let value, let elements = elements(value, at: place, most: most) else { return [] }
        var names: [String] = []
        for (index, element) in elements.enumerated() {
            guard let text = element.text else {
                errors.add(place.element(index), "must be a string, not \(element.kind.words)")
                continue
            }
            names.append(text.string)
        }
        return names
    }
}
