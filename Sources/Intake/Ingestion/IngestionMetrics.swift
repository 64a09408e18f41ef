internal import EventLog
package import ServiceRuntime

/// The metrics of ingestion.
package final class IngestionMetrics: Sendable {
    package let registry: Metrics
    let events: Counter
    let sends: Counter
    let commitSeconds: Histogram
    let commitPhases: PhaseHistograms<CommitPhase>
    let batchEvents: Histogram
    let failedCommits: Counter
    let requestSeconds: Histogram
    let invalidDrops: Counter

    package init(_ registry: Metrics) {
        self.registry = registry
        events = registry.counter(
            "bellwether_events_total", "Events by result: accepted, duplicate or the reason of their rejection.",
            label: "result")
        sends = registry.counter(
            "bellwether_sends_total", "Sends by result: accepted, duplicate or the reason of their rejection.",
            label: "result")
        requestSeconds = registry.histogram(
            "bellwether_ingest_request_seconds", "Time from the request's head to its answer, for envelopes.",
            buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10])
        commitSeconds = registry.histogram(
            "bellwether_commit_seconds", "Time that one batch took from its first word to COMMIT.",
            buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10])
        commitPhases = PhaseHistograms(
            registry, "bellwether_commit_phase_seconds",
            "Time that each commit of events spent in each of its phases, failed commits included.")
        batchEvents = registry.histogram(
            "bellwether_batch_events", "Events that one commit stored.",
            buckets: [0, 1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000])
        failedCommits = registry.counter(
            "bellwether_failed_commits_total", "Batches that were not committed and whose requests got a 503.")
        invalidDrops = registry.counter(
            "bellwether_invalid_client_drops_total", "Entries of an envelope's 'dropped' that could not be read.")
    }
}
