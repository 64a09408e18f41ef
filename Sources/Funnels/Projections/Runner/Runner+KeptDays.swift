internal import ServiceRuntime

extension Runner {
    /// Keeps what some views say of busy days, and the statistics that all are planned by, while the lanes have little
    /// to do, until the runner stops.
    func keepDays() {
        var days = KeptDays(url: configuration.url, log: log)
        (days.rules, days.cancellation) = (configuration.keptDays, cancellation)
        // Who has just started has other things to do.
        rest(days.rest(after: nil))
        while !isStopping {
            guard isWell(), isIdle else {
                rest(1)
                continue
            }
            do { try analyzeWhole() } catch {
                if !isStopping { log.warning("could not analyze the tables", ["error": "\(error)"]) }
            }
            var seconds: Double?
            do { seconds = try days.makeNext() } catch {
                if !isStopping { log.warning("could not keep the results of busy days", ["error": "\(error)"]) }
            }
            rest(days.rest(after: seconds))
        }
    }
}
