import Foundation
import Testing

/// The figures of a soak, and what of them must be flat.
struct SoakAccount {
    private let seconds: Double
    private var lines: [(name: String, figure: String)] = []
    private var life: [Gauge.Reading] = []
    private var connections: [Int64] = []
    private var tables: [[String: Gauge.Table]] = []
    private var disk: [Gauge.Disk] = []

    init(seconds: Double, events: Int, requests: Int) {
        self.seconds = seconds
        lines = [
            ("seed", "\(SoakLength.seed)"), ("seconds", String(format: "%.0f", seconds)),
            (
                "load held",
                String(format: "%.0f events/s in %.0f requests/s", Double(events) / seconds, Double(requests) / seconds)
            ),
        ]
    }

    mutating func note(_ load: Load, _ mishaps: Mishaps, _ neighbours: Neighbours, _ proxies: [Storm]) {
        lines += [
            ("requests", "\(load.requests)"),
            (
                "acknowledged",
                "\(load.acknowledgements) envelopes of \(load.events) events, \(neighbours.sends.acknowledged) sends"
            ),
            ("acknowledged, sent again and known", "\(load.repeats) envelopes"),
            ("refused (503)", "\(load.refusals)"), ("without an answer", "\(load.brokenConnections)"),
        ]
        for (mishap, count) in mishaps.counts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            lines.append(("fault: \(mishap.rawValue)", "\(count)"))
        }
        var moods: [String: Int] = [:]
        for proxy in proxies { moods.merge(proxy.counts, uniquingKeysWith: +) }
        for (mood, count) in moods.sorted(by: { $0.key < $1.key }) {
            lines.append(("fault: network, \(mood)", "\(count) requests"))
        }
        for (name, count) in neighbours.errands.done.sorted(by: { $0.key < $1.key }) {
            lines.append((name, "\(count), and \(neighbours.errands.excused[name] ?? 0) that a fault broke off"))
        }
    }

    mutating func note(_ count: Laws.Count) {
        lines += [("stored", "\(count.stored)"), ("lost", "\(count.lost)"), ("doubled", "\(count.doubled)")]
    }

    mutating func note(
        _ life: [Gauge.Reading], _ connections: [Int64], _ tables: [[String: Gauge.Table]], _ disk: [Gauge.Disk]
    ) {
        (self.life, self.connections, self.tables, self.disk) = (life, connections, tables, disk)
        lines += [
            (
                "memory of the service that lived, by quarters of its life",
                quarters(\.kibibytes).map { "\($0 / 1024)" }.joined(separator: ", ") + " MiB"
            ),
            ("its open files", quarters(\.files).map(String.init).joined(separator: ", ")),
            ("its threads", quarters(\.threads).map(String.init).joined(separator: ", ")),
            (
                "connections of PostgreSQL, by quarters of the time",
                quarters(of: connections).map { "\($0)" }.joined(separator: ", ")
            ),
            (
                "on the disk, towards the end of each quarter",
                disk.map { "\($0.rest >> 20) MiB for \($0.events) events, write-ahead log \($0.log >> 20) MiB" }
                    .joined(separator: "; ")
            ),
        ]
        for name in Set(tables.flatMap(\.keys)).sorted() {
            let course = tables.compactMap { $0[name] }
            lines.append(
                (
                    "bytes a row of \(name)",
                    course.map { String(format: "%.0f", $0.bytesPerRow) }.joined(separator: ", ")
                        + " (\(course.last?.rows ?? 0) rows, \(course.last?.dead ?? 0) dead)"
                ))
        }
    }

    /// What was seen in the last quarter is what was seen in the second.
    func checkFlatness() {
        guard SoakLength.isLong else { return }
        let memory = quarters(\.kibibytes)
        #expect(memory[3] <= memory[1] + memory[1] / 6 + 4096, "KiB \(memory)")
        let threads = quarters(\.threads)
        #expect(threads[3] <= threads[1] + 1, "\(threads)")
        // Those of clients come and go.
        let files = quarters(\.files)
        #expect(files[3] <= files[1] + 10, "\(files)")
        let counts = quarters(of: connections)
        #expect(counts[3] <= counts[1] + 5, "\(counts)")
        // What a quarter adds for each event is what another one added; old write-ahead log is used again.
        guard disk.count == 4 else { return #expect(Bool(false), "the disk was read \(disk.count) times") }
        let perEvent = zip(disk, disk.dropFirst()).map {
            Double($1.rest - $0.rest) / Double(max(1, $1.events - $0.events))
        }
        #expect(perEvent[2] <= 1.5 * perEvent[0] + 500, "bytes an event \(perEvent)")
        #expect(disk[3].log <= disk[1].log + 256 << 20, "bytes of write-ahead log \(disk.map(\.log))")
        for (name, last) in tables[3] {
            guard let second = tables[1][name] else { continue }
            let course = tables.compactMap { $0[name] }
            // A small table doubles between two rounds of autovacuum, and the two that have few rows never grow.
            let room: Int64 = ["log.head", "projection.progress"].contains(name) ? 1 << 20 : 8 << 20
            #expect(last.bytes <= max(room, Int64(1.5 * second.bytesPerRow * Double(last.rows))), "\(name): \(course)")
            #expect(last.dead <= max(20_000, last.rows / 2), "\(name): \(course)")
        }
    }

    /// Tells all of it, where somebody asked for a soak.
    func tell() {
        guard SoakLength.isAsked else { return }
        let width = lines.map(\.name.count).max() ?? 0
        var text = ""
        for (name, figure) in lines {
            text += name.padding(toLength: width + 2, withPad: " ", startingAt: 0) + figure + "\n"
        }
        FileHandle.standardError.write(Data(text.utf8))
    }

    /// The middle of each quarter of its life.
    private func quarters(_ value: (Gauge.Reading) -> Int) -> [Int] { quarters(of: life.map(value)) }

    private func quarters<Number: Comparable & ExpressibleByIntegerLiteral>(of numbers: [Number]) -> [Number] {
        (0..<4).map { quarter in
            let part = numbers[(numbers.count * quarter / 4)..<(numbers.count * (quarter + 1) / 4)].sorted()
            return part.isEmpty ? 0 : part[part.count / 2]
        }
    }
}
