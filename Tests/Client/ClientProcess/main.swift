// An app, or one of its extensions, as the tests of the client library run and kill it:
//   ClientProcess app|extension|woken|record|flush DIRECTORY SERVER KEY RECORDED
// RECORDED gets the id of each notification after its event was recorded, a line each. An extension sends after each
// receipt, an app that a dismissal or a button woke after its one response. One that only records does nothing else, as
// fast as it can.
//   ClientProcess measure DIRECTORY SERVER KEY COUNT
// tells what the library costs: creating it, recording so many events, sending them to a server, in time and memory.
//   ClientProcess hold DIRECTORY SERVER KEY -
// takes the queue and stands still.
//   ClientProcess once|linger DIRECTORY SERVER KEY RECORDED
// records one event; or five, one more when there is the file RECORDED.go, and delivers them all.
import BellwetherClient
import Foundation

let words = CommandLine.arguments
guard words.count == 6, let server = URL(string: words[3]) else { exit(64) }
let (role, directory, recorded) = (words[1], URL(fileURLWithPath: words[2]), words[5])

var configuration = Bellwether.Configuration(server: server, writeKey: words[4], directory: directory)
configuration.deliversByItself = false
// A test has seconds for what takes days in life.
configuration.backoff = (0.02, 0.5)
// Nor may a busy disk keep an event in memory, where a kill would take it: but one role is there for just that.
if role != "linger" { configuration.patience = 60 }
if role == "hold" { try standStill(with: directory) }
let (began, bytesBefore) = (DispatchTime.now().uptimeNanoseconds, residentBytes())
let bellwether = Bellwether(configuration)
let (created, bytesCreated) = (DispatchTime.now().uptimeNanoseconds - began, residentBytes())

/// The memory that the process has now; 0 where the system does not say it in this way.
func residentBytes() -> Int {
    let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
    return (pages.count > 1 ? Int(pages[1]) ?? 0 : 0) * sysconf(Int32(_SC_PAGESIZE))
}

func deliverAll() async -> Never {
    let began = Date()
    while await bellwether.flush(within: 5) != .delivered {
        if Date().timeIntervalSince(began) > 60 { exit(1) }
    }
    exit(0)
}

if role == "flush" {
    await deliverAll()
}

// What may go wrong here is the network, and nothing else.
let reports = bellwether.diagnostics
Task {
    for await report in reports where report.kind != .deliveryFailed && report.kind != .keyRefused {
        FileHandle.standardError.write(Data("\(report.kind): \(report)\n".utf8))
    }
}

func push(_ id: String) -> Bellwether.Push {
    let alert: [String: Any] = ["title": "Title", "body": "A text that somebody reads"]
    return bellwether.push(
        ["aps": ["alert": alert, "category": "INFO_CATEGORY"], "google.c.a.c_l": "hostile"],
        request: .init(identifier: id))
}

let tap = "com.apple.UNNotificationDefaultActionIdentifier"
let dismissal = "com.apple.UNNotificationDismissActionIdentifier"

if role == "measure" {
    let count = Int(words[5]) ?? 1000
    let times = (0..<count).map { number in
        let push = push("measured-\(number)")
        let began = DispatchTime.now().uptimeNanoseconds
        bellwether.responded(to: push, action: tap)
        return Double(DispatchTime.now().uptimeNanoseconds - began) / 1000
    }.sorted()
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.path).filter { $0.hasPrefix("events") }
    let bytes = names.reduce(0) { sum, name in
        sum + (FileManager.default.contents(atPath: directory.appendingPathComponent(name).path)?.count ?? 0)
    }
    print(
        "\(count) events: median \(Int(times[count / 2])) µs, 99th percentile \(Int(times[count * 99 / 100])) µs,",
        "\(bytes / count) bytes on disk each")
    let bytesRecorded = residentBytes()
    let outcome = await bellwether.flush(within: 20)
    let memory = [bytesCreated, bytesRecorded, residentBytes()].map { "\(($0 - bytesBefore) / 1024) KiB" }
    print(
        "created in \(created / 1000) µs; memory more than before: created \(memory[0]), recorded \(memory[1]),",
        "sent \(memory[2]) (\(outcome))")
    exit(0)
}

let log = open(recorded, O_WRONLY | O_APPEND | O_CREAT, 0o600)

func record(_ id: String) {
    if role == "extension" {
        bellwether.received(push(id), .serviceExtension())
    } else {
        bellwether.responded(to: push(id), action: role == "woken" ? dismissal : tap)
    }
    let line = Array("\(id)\n".utf8)
    guard write(log, line, line.count) == line.count else { exit(1) }
}

if role == "once" {
    record("once")
    exit(0)
}
if role == "linger" {
    for number in 1...5 { record("linger-\(number)") }
    try await wait(forFile: recorded + ".go")
    record("linger-6")
    await deliverAll()
}
let name = "\(role)-\(UUID().uuidString.prefix(8))"
var number = 0
let most =
    switch role {
    case "extension": Int.random(in: 1...4)
    case "woken": 1
    default: Int.max
    }
while number < most {
    number += 1
    let id = "\(name)-\(number)"
    record(id)
    if role == "record" { continue }
    if role == "extension" || role == "woken" { await bellwether.flush(within: 2) }
    if role == "app", Int.random(in: 0..<30) == 0 { await bellwether.flush(within: 1) }
    try await Task.sleep(nanoseconds: UInt64.random(in: 0...4_000_000))
}
exit(0)
