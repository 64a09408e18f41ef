internal import Accounts
package import Postgres
package import ServiceRuntime
package import Values

/// Keeps the experiments of apps: each change as a version, the newest of which counts.
package enum ExperimentRegistry {
    package enum Outcome: Sendable {
        /// What each of them is now, in the order in which they were asked for.
        case registered([RegisteredExperiment])
        /// Nothing was changed.
        case refused([Remark])
    }

    /// Makes these experiments what they are from now on, all or none. Doing it again changes nothing. If the key that
    /// they came with is closed by then, it fails (`keyClosed`).
    package static func register(
        _ experiments: [Experiment], of app: Int32, key: Int32? = nil, on connection: inout Connection
    ) throws(PostgresError) -> Outcome {
        try change(key: key, on: &connection) { connection throws(PostgresError) in
            let now = try now(on: &connection)
            var known: [ExactText: RegisteredExperiment] = [:]
            for experiment in try list(of: app, on: &connection) { known[ExactText(experiment.name)] = experiment }
            var (registered, refused): ([RegisteredExperiment], [Remark]) = ([], [])
            var count = known.count
            for experiment in experiments {
                let old = known[ExactText(experiment.name)]
                if old == nil { count += 1 }
                let new = experiment.registered(after: old, now: now)
                let faults =
                    experiment.faults + (old.map { new.conflicts(with: $0, now: now, at: experiment.path) } ?? [])
                refused += faults
                registered.append(new)
            }
            if count > ExperimentLimits.experiments {
                let detail =
                    "an app has at most \(ExperimentLimits.experiments) experiments, and this would make \(count)"
                refused.append(Remark(path: "", detail: detail))
            }
            guard refused.isEmpty else { return .refused(refused) }
            for (experiment, new) in zip(experiments, registered) where !new.isUnchanged {
                try insert(new, experiment.share, of: app, on: &connection)
            }
            return .registered(registered)
        }
    }

    /// Ends an experiment at a moment, now if none is given. One that has not started is called off. Nil if there is no
    /// such experiment.
    package static func end(
        _ name: String, at moment: Timestamp?, of app: Int32, on connection: inout Connection
    ) throws(PostgresError) -> Outcome? {
        try change(on: &connection) { connection throws(PostgresError) in
            let now = try now(on: &connection)
            let old = try list(of: app, on: &connection).first { ExactText($0.name) == ExactText(name) }
            guard let old else { return nil }
            if let ends = old.ends, ends <= now { return .registered([old.unchanged]) }
            var new = old
            new.ends = max(moment ?? now, old.starts)
            new.version += 1
            (new.registeredAt, new.isUnchanged) = (now, new.ends == old.ends)
            let faults = new.conflicts(with: old, now: now, at: "")
            guard faults.isEmpty else { return .refused(faults) }
            if new.isUnchanged { return .registered([old.unchanged]) }
            guard let share = Double(old.control).flatMap(ControlShare.init(percent:)) else { return nil }
            try insert(new, share, of: app, on: &connection)
            return .registered([new])
        }
    }

    /// All experiments of an app, as they are now, by name.
    package static func list(
        of app: Int32, on connection: inout Connection
    ) throws(PostgresError) -> [RegisteredExperiment] {
        try connection.query(
            """
            SELECT experiment, version, control::text, salt, starts_at, ends_at, campaigns, goals, registered_at
            FROM registry.newest_experiment WHERE app = \(app) ORDER BY experiment COLLATE "C"
            """
        ).map { row throws(PostgresError) in
            RegisteredExperiment(
                name: try row.get(0), version: try row.get(1), control: try row.get(2), salt: try row.get(3),
                starts: try row.get(4), ends: try row.optional(5), campaigns: try row.get(6), goals: try row.get(7),
                registeredAt: try row.get(8))
        }
    }

    /// The time by which experiments start and end.
    package static func now(on connection: inout Connection) throws(PostgresError) -> Timestamp {
        try connection.query("SELECT clock_timestamp()")[0].get(0)
    }

    /// The table that a cluster's cells have in common.
    package static let sharedTables = [
        SharedTable("registry.experiment_version", key: ["app", "experiment", "version"])
    ]

    /// The newest rows of these experiments, for the other cells of a cluster.
    package static func rows(
        of experiments: [RegisteredExperiment], of app: Int32, on connection: inout Connection
    ) throws(PostgresError) -> [SharedTable.Rows] {
        let (names, app) = (Statement.Parameter(experiments.map(\.name)), Statement.Parameter(app))
        var rows: [SharedTable.Rows] = []
        for table in sharedTables {
            rows.append(
                try table.rows(
                    where: """
                        app = $1 AND experiment = ANY ($2) AND version = (
                            SELECT n.version FROM registry.newest_experiment AS n
                            WHERE n.app = t.app AND n.experiment = t.experiment)
                        """, app, names, on: &connection))
        }
        return rows
    }

    /// Runs a change as one transaction, anew while another session was quicker.
    private static func change<Result>(
        key: Int32? = nil, on connection: inout Connection, _ body: (inout Connection) throws(PostgresError) -> Result
    ) throws(PostgresError) -> Result {
        var attempts = 0
        while true {
            attempts += 1
            do {
                return try connection.transaction { connection throws(PostgresError) in
                    let result = try body(&connection)
                    if let key { try connection.query("SELECT log.require_open_key(\(key))") }
                    return result
                }
            } catch {
                guard error.state == .uniqueViolation, attempts < 20 else { throw error }
            }
        }
    }

    private static func insert(
        _ new: RegisteredExperiment, _ share: ControlShare, of app: Int32, on connection: inout Connection
    ) throws(PostgresError) {
        try connection.query(
            """
            INSERT INTO registry.experiment_version (
                app, experiment, version, control, threshold, salt, starts_at, ends_at, campaigns, goals, registered_at)
            VALUES (
                \(app), \(new.name), \(new.version), \(share.text)::text::numeric, \(Bytea(share.thresholdBytes)),
                \(new.salt), \(new.starts), \(new.ends), \(new.campaigns), \(new.goals), \(new.registeredAt))
            """)
    }
}

extension Experiment {
    /// What would be registered, `old` being what is.
    fileprivate func registered(after old: RegisteredExperiment?, now: Timestamp) -> RegisteredExperiment {
        var new = RegisteredExperiment(
            name: name, version: (old?.version ?? 0) + 1, control: share.text,
            salt: salt ?? old?.salt ?? ArmRule.makeSalt(), starts: starts, ends: ends, campaigns: campaigns,
            goals: goals, registeredAt: now)
        if let old, new.saysTheSame(as: old) { new = old.unchanged }
        return new
    }
}

extension RegisteredExperiment {
    fileprivate var unchanged: RegisteredExperiment {
        var same = self
        same.isUnchanged = true
        return same
    }

    fileprivate func saysTheSame(as old: RegisteredExperiment) -> Bool {
        control == old.control && ExactText(salt) == ExactText(old.salt) && starts == old.starts && ends == old.ends
            && campaigns.map(ExactText.init) == old.campaigns.map(ExactText.init)
            && goals.map(ExactText.init) == old.goals.map(ExactText.init)
    }

    /// What of the change is not allowed. Once an experiment has started, who is in which arm, since when, and what
    /// decides is fixed: whoever could choose it after a look would find whatever they wish.
    fileprivate func conflicts(with old: RegisteredExperiment, now: Timestamp, at path: String) -> [Remark] {
        func remark(_ member: String, _ detail: String) -> Remark {
            Remark(path: path.isEmpty ? member : "\(path).\(member)", detail: detail)
        }
        guard !isUnchanged else { return [] }
        guard version <= ExperimentLimits.versions else {
            return [
                remark("name", "was changed \(ExperimentLimits.versions) times, which is all that an experiment can be")
            ]
        }
        guard old.starts <= now else { return [] }
        if let ends = old.ends, ends <= now {
            return [remark("ends", "the experiment ended at \(ends): start another one under another name")]
        }
        var conflicts: [Remark] = []
        func fix(_ member: String, _ isSame: Bool) {
            guard !isSame else { return }
            conflicts.append(remark(member, "must stay as it is: the experiment started at \(old.starts)"))
        }
        fix("control", control == old.control)
        fix("salt", ExactText(salt) == ExactText(old.salt))
        fix("starts", starts == old.starts)
        fix("goals", goals.map(ExactText.init) == old.goals.map(ExactText.init))
        if let ends, ends != old.ends, ends < now { conflicts.append(remark("ends", "must not have passed")) }
        return conflicts
    }
}

extension RegisteredExperiment {
    /// In one line, as the command and PUT say it.
    package func json(at now: Timestamp) -> JSONObject {
        [
            "name": name, "version": version, "state": state(at: now).rawValue, "control": Double(control),
            "salt": salt,
            "starts": "\(starts)", "ends": ends.map { "\($0)" }, "campaigns": campaigns, "goals": goals,
            "unchanged": isUnchanged,
        ]
    }
}
