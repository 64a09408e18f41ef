import Foundation

/// The most memory that this process has ever held, in kilobytes, as the kernel says.
func residentPeak() -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line.flatMap { Int($0.split(separator: " ").dropLast().last ?? "") } ?? 0
}
