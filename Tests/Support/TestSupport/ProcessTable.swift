internal import Foundation
package import Glibc

/// What the kernel tells about processes.
package enum ProcessTable {
    package static var all: [pid_t] {
        ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { pid_t($0) }
    }

    /// Its words, as everybody on the machine can read them.
    package static func commandLine(of process: pid_t) -> [String] { strings("/proc/\(process)/cmdline") }

    /// Its variables, as far as we may read them.
    package static func environment(of process: pid_t) -> [String: String] {
        var variables: [String: String] = [:]
        for text in strings("/proc/\(process)/environ") {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
        }
        return variables
    }

    /// The process and all that it has started, and they.
    package static func family(of process: pid_t) -> [pid_t] {
        var children: [pid_t: [pid_t]] = [:]
        for process in all { if let parent = parent(of: process) { children[parent, default: []].append(process) } }
        var family = [process]
        var next = 0
        while next < family.count {
            family += children[family[next]] ?? []
            next += 1
        }
        return family
    }

    /// The most memory that it ever held, in KiB.
    package static func peakMemory(of process: pid_t) -> Int? { number("VmHWM", of: process) }

    /// The memory that it holds now, in KiB.
    package static func memory(of process: pid_t) -> Int? { number("VmRSS", of: process) }

    package static func threads(of process: pid_t) -> Int? { number("Threads", of: process) }

    /// How many files, sockets and the like it has open.
    package static func openFiles(of process: pid_t) -> Int? {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd"))?.count
    }

    private static func number(_ name: String, of process: pid_t) -> Int? {
        let text = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = text?.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return line.flatMap { Int($0.filter(\.isNumber)) }
    }

    package static func isStopped(_ process: pid_t) -> Bool { stat(of: process)?.first == "T" }

    /// Whether it is there and more than a name that nobody has asked for.
    package static func isAlive(_ process: pid_t) -> Bool {
        guard let state = stat(of: process)?.first else { return false }
        return state != "Z" && state != "X"
    }

    /// The processor time that a process has used, in seconds; nil if there is none.
    package static func processorTime(of process: pid_t) -> Double? {
        guard let fields = stat(of: process), fields.count > 12, let user = Double(fields[11]),
            let system = Double(fields[12])
        else { return nil }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    private static func parent(of process: pid_t) -> pid_t? {
        stat(of: process).flatMap { $0.count > 1 ? pid_t($0[1]) : nil }
    }

    /// The fields after the name, which may hold anything.
    private static func stat(of process: pid_t) -> [Substring]? {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return nil }
        return text[text.index(after: end)...].split(separator: " ")
    }

    private static func strings(_ path: String) -> [String] {
        guard let data = FileManager.default.contents(atPath: path) else { return [] }
        return data.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }
}
