internal import Accounts
package import Clusters
package import EventLog
internal import Postgres
package import Projections
internal import Sends
package import ServiceRuntime
package import Values

/// Erasure: removes an install from everywhere. First its events and its part of the funnels, which show which rows of
/// Firebase's export belong to it; then those rows.
///
/// In a cluster every cell erases it: one has its events, any may keep rejected ones that mention it, and all must know
/// of it, as its shard may move.
package struct RemovalOfInstall: Sendable {
    /// What was removed.
    package struct Summary: Sendable {
        /// What each cell has removed.
        package let parts: [(database: CellDatabase, erased: ErasureRun.Summary)]
        /// Rows of Firebase's export. All databases of a cluster have the same.
        package let exportRows: Int
        /// Databases that may still have something of the install, and why.
        package let failures: [any Error]

        /// Whether this run found nothing.
        package var isEmpty: Bool { failures.isEmpty && parts.allSatisfy(\.erased.own.isZero) }

        package func sum(_ count: (ErasureRun.Summary) -> Int64) -> Int64 { parts.reduce(0) { $0 + count($1.erased) } }

        /// As JSON: what this run has removed, or all runs together.
        package func object(
            of install: UUID, app slug: String, counting counts: KeyPath<ErasureRun.Summary, Erasure.Counts>
        ) -> JSONObject {
            let erased = parts.map(\.erased)
            let isAlone = parts.contains { $0.database.name == nil }
            var stopped: [String] = []
            for name in erased.flatMap(\.stopped).map(\.name) where !stopped.contains(name) { stopped.append(name) }
            var members: [(String, any JSONWritable)] = [
                ("app", slug), ("install_id", "\(install)"),
                ("erased_at", erased.map(\.erasure.erasedAt).max().map { "\($0)" }),
                ("batch", isAlone ? erased.first?.erasure.number : nil),
                ("events", sum { $0[keyPath: counts].events }), ("deliveries", sum { $0[keyPath: counts].deliveries }),
                ("rejected", sum { $0[keyPath: counts].rejected }),
                ("drop_reports", sum { $0[keyPath: counts].clientDrops }), ("fcm_export_rows", exportRows),
                ("stopped", stopped),
            ]
            guard !isAlone else { return JSONObject(members) }
            members.append(
                (
                    "cells",
                    parts.map { database, erased -> JSONObject in
                        let own = erased[keyPath: counts]
                        return [
                            "cell": database.name, "erased_at": "\(erased.erasure.erasedAt)",
                            "batch": erased.erasure.number, "events": own.events, "deliveries": own.deliveries,
                            "rejected": own.rejected, "drop_reports": own.clientDrops,
                            "stopped": erased.stopped.map(\.name),
                        ]
                    }
                ))
            return JSONObject(members)
        }
    }

    private let databases: [CellDatabase]
    private let log: Log
    private let cancellation: Cancellation

    /// `databases` are all that the cluster has, hubs among them.
    package init(_ databases: [CellDatabase], log: Log, cancellation: Cancellation = Cancellation()) {
        (self.databases, self.log, self.cancellation) = (databases, log, cancellation)
    }

    /// A cell that cannot be reached is named, and the others forget the install all the same.
    package func run(_ install: UUID, ofApp slug: String) throws -> Summary {
        var parts: [(CellDatabase, ErasureRun.Summary)] = []
        var failures: [(cell: ClusterMap.Cell?, error: any Error)] = []
        databases.filter { !$0.isHub }.sideBySide { [log, cancellation] database in
            var connection = try LogSession.open(url: database.url, role: nil, purpose: "erasure", log: log)
            let app = try Apps.named(slug, on: &connection)
            var control = ProjectionControl(url: database.url, log: log)
            control.cancellation = cancellation
            return try ErasureRun(control).run(app: app.id, install: install)
        } told: { database, result in
            do { parts.append((database, try result.get())) } catch {
                failures.append((database.cell, database.error(error)))
            }
        }
        // The cell of the install has learned which instances of Firebase are of it.
        var erased: FCMExportStore.ErasedInstances?
        var exportRows = 0
        func visit(_ database: CellDatabase, _ body: (inout Connection) throws -> Void) {
            do {
                var connection = try LogSession.open(url: database.url, role: nil, purpose: "erasure", log: log)
                try body(&connection)
            } catch { failures.append((database.cell, database.error(error))) }
        }
        for (database, _) in parts {
            visit(database) { connection in
                let app = try Apps.named(slug, on: &connection).id
                let own = try FCMExportStore.erasedInstances(of: app, on: &connection)
                erased = erased?.joined(with: own) ?? own
            }
        }
        if let erased {
            for database in databases where !failures.contains(where: { $0.cell == database.cell }) {
                visit(database) { connection in
                    exportRows = max(exportRows, try FCMExportStore.forget(erased, on: &connection))
                }
            }
        }
        if databases.count == 1, let failure = failures.first { throw failure.error }
        return Summary(parts: parts, exportRows: exportRows, failures: failures.map(\.error))
    }
}
