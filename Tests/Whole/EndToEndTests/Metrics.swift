import Foundation

/// Prometheus' text format, read strictly: a line that is none, or a sample without a type before it, is an error.
struct Metrics {
    struct Sample: Equatable {
        let name: String
        let labels: String
        let value: Double
    }

    struct Malformed: Error { let line: String }

    private(set) var kinds: [String: String] = [:]
    private(set) var samples: [Sample] = []

    init(_ text: String) throws {
        for line in text.split(separator: "\n", omittingEmptySubsequences: true) {
            if let kind = line.wholeMatch(of: #/# TYPE ([a-z_]+) (counter|gauge|histogram)/#) {
                guard kinds.updateValue(String(kind.2), forKey: String(kind.1)) == nil else {
                    throw Malformed(line: String(line))
                }
            } else if line.wholeMatch(of: #/# HELP [a-z_]+ .+/#) == nil {
                let form = #/([a-z_]+)(?:\{([a-z_]+="[^"\\]*"(?:,[a-z_]+="[^"\\]*")*)\})? ([^ ]+)/#
                guard let sample = line.wholeMatch(of: form), let value = Double(sample.3) else {
                    throw Malformed(line: String(line))
                }
                let name = String(sample.1)
                let family = name.replacing(#/_(bucket|sum|count)$/#, with: "")
                guard kinds[name] != nil || kinds[family] == "histogram" else { throw Malformed(line: String(line)) }
                samples.append(Sample(name: name, labels: String(sample.2 ?? ""), value: value))
            }
        }
    }

    func value(_ name: String, _ labels: String = "") -> Double? {
        samples.first { $0.name == name && $0.labels == labels }?.value
    }
}
