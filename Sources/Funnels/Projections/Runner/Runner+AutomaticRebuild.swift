internal import ServiceRuntime

extension Runner {
    /// Rebuilds what older rules have counted, or what was counted under older words, beside the lanes, until the
    /// runner stops.
    func renew() {
        var control = ProjectionControl(url: configuration.url, log: log)
        control.lanes = configuration.lanes
        control.cancellation = cancellation
        var backoff = Backoff(first: 1, most: 60)
        // A failed rebuild is not tried again before the next start.
        var givenUp: [String] = []
        while !isStopping {
            let due = due
            guard isWell(), !due.isEmpty, due != givenUp else {
                rest(1)
                continue
            }
            do {
                let outcome = try AutomaticRebuild(control).run()
                if !tell(outcome) { givenUp = due }
            } catch {
                if !isStopping { log.warning("could not rebuild funnels yet: trying again", ["error": "\(error)"]) }
            }
            rest(backoff.next())
        }
    }

    /// Logs the outcome and returns whether to look again.
    private func tell(_ outcome: AutomaticRebuild.Attempt) -> Bool {
        switch outcome {
        case .nothingToDo, .busy: return true
        case .made(let names, .swapped(let events, _, _)):
            log.info(
                "rebuilt and verified funnels: they are live",
                ["projections": names.joined(separator: " "), "events": "\(events)"])
            return true
        case .made(let names, .stopped(let stopped)):
            log.error(
                "could not rebuild funnels, and the old tables stay: fix the cause, then run bellwether rebuild",
                [
                    "projections": names.joined(separator: " "), "batch": "\(stopped.first?.batch ?? 0)",
                    "reason": stopped.first?.reason ?? "",
                ])
        case .made(let names, .differs):
            log.error(
                "rebuilt funnels do not match the log: see bellwether rebuild, and please report this",
                ["projections": names.joined(separator: " ")])
        case .notOwner(let names):
            log.error(
                "funnels need a rebuild, as rules or words have changed, and this login may not create tables: "
                    + "run bellwether rebuild as the owner",
                ["projections": names.joined(separator: " ")])
        }
        return false
    }
}
