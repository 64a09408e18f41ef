internal import Postgres
internal import Reports
internal import Values

/// What the pages are read with.
struct PageSource: Sendable {
    let settled: SettledApps
    /// The apps that the session reads; nil for all.
    var apps: [String]?
    /// The time that it is.
    let now: Timestamp

    /// Reads a page in one snapshot, so that its figures fit together.
    func sight(_ state: PageState, on connection: inout Connection) throws(LookError) -> Sight {
        do throws(TransactionError<LookError>) {
            return try connection.transaction(.repeatableReadOnly, failingWith: LookError.self) {
                connection throws(LookError) in
                do throws(PostgresError) { try connection.execute(script: "SET LOCAL jit = off") } catch {
                    throw .database(error)
                }
                var sight = try read(state, on: &connection)
                guard state.format == .json, let answer = sight.asked else { return sight }
                do throws(PostgresError) { sight.facts = try TableFacts.read(for: answer, on: &connection) } catch {
                    throw .database(error)
                }
                return sight
            }
        } catch {
            switch error {
            case .database(let error): throw .database(error)
            case .body(let error): throw error
            }
        }
    }

    private func read(_ state: PageState, on connection: inout Connection) throws(LookError) -> Sight {
        let scope = try scope(of: state, on: &connection)
        do throws(PostgresError) {
            switch state.page {
            case .overview: return try OverviewPage.read(state, scope, on: &connection)
            case .app: return try AppPage.read(state, scope, on: &connection)
            case .category: return try CategoryPage.read(state, scope, on: &connection)
            case .deliveries: return try DeliveriesPage.read(state, scope, on: &connection)
            case .story: return try StoryPage.read(state, scope, on: &connection)
            case .campaign: return try CampaignPage.read(state, scope, on: &connection)
            case .goal: return try GoalPage.read(state, scope, on: &connection)
            case .versions: return try VersionsPage.read(state, scope, on: &connection)
            case .experiment: return try ExperimentPage.read(state, scope, on: &connection)
            case .install: return try InstallPage.read(state, scope, on: &connection)
            case .installs: return try InstallsPage.read(state, scope, on: &connection)
            case .quality: return try QualityPage.read(state, scope, on: &connection)
            case .reports: return try ReportsPage.read(state, scope, on: &connection)
            case .live: return try LivePage.read(state, scope, isBound: apps != nil, on: &connection)
            }
        } catch { throw .database(error) }
    }

    private func scope(of state: PageState, on connection: inout Connection) throws(LookError) -> Scope {
        guard let slug = state.app else {
            let apps: [ReportedApp]
            do { apps = try ReportedApp.all(at: now, on: &connection) } catch { throw LookError(error) }
            // The latest date that any app has.
            let today = apps.map(\.today).max() ?? CivilDate(daysSince1970: Int(now.microseconds / 86_400_000_000))
            do throws(PostgresError) {
                let settled = try settled.settled(apps, today: today, at: now, on: &connection)
                // No day takes longer than four weeks to settle.
                let first: CivilDate? = try connection.query(
                    """
                    SELECT min(day) FROM analytics.category_funnel WHERE day >= \(today.advanced(by: -2 * Scope.usual))
                    """
                )[0]
                .optional(0)
                return Scope(state, app: nil, today: today, settled: settled, compares: false, firstKnownDay: first)
            } catch { throw .database(error) }
        }
        let app: ReportedApp
        do { app = try ReportedApp.find(slug, at: now, on: &connection) } catch { throw LookError(error) }
        let scope: Scope
        do throws(PostgresError) {
            let (settled, first) = try settled.settled(app, at: now, on: &connection)
            let compares = [.app, .category, .campaign, .story].contains(state.page)
            var read = Scope(
                state, app: app, today: app.today, settled: settled, compares: compares, firstKnownDay: first)
            read.isByReceipt = state.page == .quality
            scope = read
        } catch { throw .database(error) }
        guard !scope.compares || !scope.days.overlaps(scope.compared) else {
            throw .fault(
                AddressFault(
                    "\(scope.days) and \(scope.compared) have days in common. "
                        + "Days are compared with others, not with themselves."
                ))
        }
        return scope
    }
}
