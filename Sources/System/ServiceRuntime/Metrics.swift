/// The metrics of a process, in Prometheus' text format.
///
/// Each metric is registered once, and the code that counts holds it; `render` reads them all.
package final class Metrics: Sendable {
    private let families = Lock<[(name: String, help: String, kind: String, render: @Sendable () -> [Sample])]>([])

    /// One line of the text: the suffix of the name, the labels, and the value.
    package struct Sample: Sendable {
        package var suffix = ""
        package var labels: [(String, String)] = []
        package var value: Double

        package init(suffix: String = "", labels: [(String, String)] = [], value: Double) {
            self.suffix = suffix
            self.labels = labels
            self.value = value
        }
    }

    package init() {}

    /// A number that only grows, one for each value of its label.
    package func counter(_ name: String, _ help: String, label: String? = nil) -> Counter {
        let counter = Counter(label: label)
        register(name, help, "counter") { counter.samples }
        return counter
    }

    /// A number that only grows and is counted elsewhere.
    package func counter(_ name: String, _ help: String, _ read: @escaping @Sendable () -> Int) {
        register(name, help, "counter") { [Sample(value: Double(read()))] }
    }

    /// Numbers that only grow and are counted elsewhere, by the value of their label.
    package func counter(
        _ name: String, _ help: String, label: String, _ read: @escaping @Sendable () -> [String: Int]
    ) {
        register(name, help, "counter") {
            read().sorted { $0.key < $1.key }.map { Sample(labels: [(label, $0.key)], value: Double($0.value)) }
        }
    }

    /// A number that is read for each `render`.
    package func gauge(_ name: String, _ help: String, _ read: @escaping @Sendable () -> Double?) {
        register(name, help, "gauge") { read().map { [Sample(value: $0)] } ?? [] }
    }

    /// Numbers that are read for each `render`, by the value of their label.
    package func gauge(
        _ name: String, _ help: String, label: String, _ read: @escaping @Sendable () -> [String: Double]
    ) {
        register(name, help, "gauge") {
            read().sorted { $0.key < $1.key }.map { Sample(labels: [(label, $0.key)], value: $0.value) }
        }
    }

    /// A distribution over fixed buckets.
    package func histogram(_ name: String, _ help: String, buckets: [Double]) -> Histogram {
        let histogram = Histogram(buckets: buckets)
        register(name, help, "histogram") { histogram.samples() }
        return histogram
    }

    /// Distributions over the same buckets, one for each value of their label.
    package func histograms(
        _ name: String, _ help: String, buckets: [Double], label: String, values: [String]
    ) -> [Histogram] {
        let histograms = values.map { _ in Histogram(buckets: buckets) }
        register(name, help, "histogram") {
            zip(values, histograms).flatMap { value, histogram in histogram.samples([(label, value)]) }
        }
        return histograms
    }

    /// All metrics, in the format that a Prometheus server reads.
    package func render() -> String {
        var text = ""
        for family in families.withLock({ $0 }) {
            text += "# HELP \(family.name) \(family.help)\n# TYPE \(family.name) \(family.kind)\n"
            for sample in family.render() {
                let labels = sample.labels.map { "\($0.0)=\"\(Metrics.escaped($0.1))\"" }.joined(separator: ",")
                text += family.name + sample.suffix + (labels.isEmpty ? "" : "{\(labels)}") + " "
                text += Metrics.text(of: sample.value) + "\n"
            }
        }
        return text
    }

    private func register(
        _ name: String, _ help: String, _ kind: String, _ render: @escaping @Sendable () -> [Sample]
    ) {
        families.withLock { families in
            precondition(!families.contains { $0.name == name }, "the metric \(name) is registered twice")
            families.append((name, help, kind, render))
        }
    }

    private static func escaped(_ value: String) -> String {
        // By scalar, because a quote with an accent, or CR and LF, is one Character that is neither a quote nor LF.
        value.unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }

    static func text(of value: Double) -> String {
        guard value.isFinite else { return value.isNaN ? "NaN" : value < 0 ? "-Inf" : "+Inf" }
        return value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    }
}

/// A number that only grows, one for each value of its label.
package final class Counter: Sendable {
    private let label: String?
    private let values: Lock<[String: Int]>

    init(label: String?) {
        self.label = label
        values = Lock(label == nil ? ["": 0] : [:])
    }

    /// Adds to the value of a label ("" for a counter without one).
    package func add(_ count: Int = 1, _ value: String = "") {
        guard count > 0 else { return }
        values.withLock { values in values[value, default: 0] += count }
    }

    package subscript(value: String) -> Int {
        values.withLock { values in values[value] ?? 0 }
    }

    fileprivate var samples: [Metrics.Sample] {
        values.withLock { values in values.sorted { $0.key < $1.key } }.map { value, count in
            Metrics.Sample(labels: label.map { [($0, value)] } ?? [], value: Double(count))
        }
    }
}

/// A distribution over fixed buckets.
package final class Histogram: Sendable {
    private let buckets: [Double]
    private let state: Lock<(counts: [Int], sum: Double)>

    init(buckets: [Double]) {
        self.buckets = buckets
        state = Lock(([Int](repeating: 0, count: buckets.count + 1), 0))
    }

    package func observe(_ value: Double) {
        let bucket = buckets.firstIndex { value <= $0 } ?? buckets.count
        state.withLock { state in
            state.counts[bucket] += 1
            state.sum += value
        }
    }

    fileprivate func samples(_ labels: [(String, String)] = []) -> [Metrics.Sample] {
        let (totals, sum) = state.withLock { state in
            var total = 0
            let totals = state.counts.map { count in
                total += count
                return total
            }
            return (totals, state.sum)
        }
        var samples: [Metrics.Sample] = []
        for (bound, total) in zip(buckets + [.infinity], totals) {
            samples.append(
                Metrics.Sample(
                    suffix: "_bucket", labels: labels + [("le", Metrics.text(of: bound))], value: Double(total)))
        }
        samples.append(Metrics.Sample(suffix: "_sum", labels: labels, value: sum))
        samples.append(Metrics.Sample(suffix: "_count", labels: labels, value: Double(totals.last ?? 0)))
        return samples
    }
}
