import ServiceRuntime
import Testing

@Suite("Metrics in Prometheus' text format")
struct MetricsTests {
    @Test("counters stand with help and type, apart for each label in order")
    func counters() {
        let metrics = Metrics()
        let plain = metrics.counter("starts_total", "How often it started.")
        let labelled = metrics.counter("events_total", "Events by result.", label: "result")
        #expect(
            metrics.render() == """
                # HELP starts_total How often it started.
                # TYPE starts_total counter
                starts_total 0
                # HELP events_total Events by result.
                # TYPE events_total counter

                """)
        plain.add()
        plain.add(41)
        labelled.add(2, "rejected")
        labelled.add(1, "accepted")
        labelled.add(1, "rejected")
        labelled.add(0, "never")
        labelled.add(-5, "rejected")
        #expect(plain[""] == 42 && labelled["rejected"] == 3 && labelled["never"] == 0)
        #expect(
            metrics.render() == """
                # HELP starts_total How often it started.
                # TYPE starts_total counter
                starts_total 42
                # HELP events_total Events by result.
                # TYPE events_total counter
                events_total{result="accepted"} 1
                events_total{result="rejected"} 3

                """)
    }

    @Test("what others count is read at the moment of asking")
    func read() {
        let metrics = Metrics()
        let value = Lock(1.5)
        metrics.gauge("queue_bytes", "Bytes that wait.") { value.withLock { $0 } }
        metrics.counter("seen_total", "Seen.", label: "kind") { ["b": 2, "a": 1] }
        #expect(metrics.render().contains("queue_bytes 1.5\n"))
        value.withLock { $0 = 1e14 }
        #expect(metrics.render().contains("queue_bytes 100000000000000\n"))
        #expect(metrics.render().contains("seen_total{kind=\"a\"} 1\nseen_total{kind=\"b\"} 2\n"))
    }

    @Test("a histogram's buckets are cumulative, bounds included, and end in +Inf, sum and count")
    func histogram() {
        let metrics = Metrics()
        let seconds = metrics.histogram("commit_seconds", "Commits.", buckets: [0.5, 1, 2.5])
        for value in [0.25, 0.5, 0.75, 2.5, 3, 100] { seconds.observe(value) }
        #expect(
            metrics.render() == """
                # HELP commit_seconds Commits.
                # TYPE commit_seconds histogram
                commit_seconds_bucket{le="0.5"} 2
                commit_seconds_bucket{le="1"} 3
                commit_seconds_bucket{le="2.5"} 4
                commit_seconds_bucket{le="+Inf"} 6
                commit_seconds_sum 107
                commit_seconds_count 6

                """)
    }

    private enum Stage: Int, WorkPhase {
        case ask, answer
        var name: String { "\(self)" }
    }

    @Test("the time of work is divided into its phases, each moment in one, and what still lasts is in the totals")
    func phases() {
        let metrics = Metrics()
        let times = PhaseTimes(PhaseHistograms<Stage>(metrics, "work_seconds", "Work."))
        let (first, second) = (times.watch(), times.watch())
        let began = Deadline.now
        first.enter(.ask)
        #expect(first.enter(.answer) == .ask && first.enter(.ask) == .answer)
        first.attribute(1000, to: .answer)
        first.end()
        second.enter(.ask)
        second.end(counts: false)
        let past = Deadline.now.seconds(since: began)
        let totals = times.totals
        #expect(totals.names == ["ask", "answer"] && totals.pieces == 1)
        #expect(totals.seconds.allSatisfy { $0 > 0 } && totals.seconds.reduce(0, +) <= past)
        let text = metrics.render()
        for stage in ["ask", "answer"] {
            #expect(text.contains("work_seconds_count{phase=\"\(stage)\"} 1\n"))
            #expect(text.contains("work_seconds_bucket{phase=\"\(stage)\",le=\"60\"} 1\n"))
        }
        // It hangs there.
        second.enter(.answer)
        repeat {} while times.totals.since(totals).seconds[1] < 0.02
        #expect(times.totals.since(totals).pieces == 0 && metrics.render() == text)
        second.add(3, to: .ask)
        // A difference of sums.
        #expect(abs(times.totals.since(totals).seconds[0] - 3) < 1e-9)
    }

    @Test(
        "a label's value cannot break out of its quotes or its line, whatever it holds",
        arguments: [
            ("a\"b", #"a\"b"#), ("a\\b", #"a\\b"#), ("a\nb", #"a\nb"#), ("a\r\nb", "a\r\\nb"),
            ("\"\u{301}", "\\\"\u{301}"),
            ("\\\u{301}", "\\\\\u{301}"), ("สวัสดี", "สวัสดี"),
        ])
    func escaping(value: String, written: String) {
        let metrics = Metrics()
        metrics.counter("seen_total", "Seen.", label: "kind").add(1, value)
        #expect(
            metrics.render().utf8.elementsEqual(
                "# HELP seen_total Seen.\n# TYPE seen_total counter\nseen_total{kind=\"\(written)\"} 1\n".utf8))
    }

    @Test(
        "values beyond numbers are written as Prometheus reads them",
        arguments: [
            (Double.infinity, "+Inf"), (-.infinity, "-Inf"), (.nan, "NaN"), (0, "0"), (-3, "-3"), (0.1, "0.1"),
            (1e300, "1e+300"),
        ])
    func values(value: Double, written: String) {
        let metrics = Metrics()
        metrics.gauge("level", "A level.") { value }
        #expect(metrics.render().hasSuffix("\nlevel \(written)\n"))
    }

    @Test("many threads that count together lose nothing")
    func threads() {
        let metrics = Metrics()
        let counter = metrics.counter("n_total", "N.", label: "l")
        let histogram = metrics.histogram("h", "H.", buckets: [1])
        let workers = (0..<4).map { number in
            Worker(name: "counter-\(number)") {
                for _ in 0..<2000 {
                    counter.add(1, "\(number % 2)")
                    histogram.observe(1)
                    if number == 0 { _ = metrics.render() }
                }
            }
        }
        for worker in workers { worker.join() }
        #expect(counter["0"] == 4000 && counter["1"] == 4000)
        #expect(metrics.render().contains("h_bucket{le=\"1\"} 8000\n"))
    }
}
