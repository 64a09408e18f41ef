import Foundation
import Postgres
import ServiceRuntime
import TestSupport
import Testing

@Suite("Phones with a client library on a hostile network")
struct ClientFaultTests {
    private static let seconds = FaultLength.seconds(12)

    @Test(
        "app, extensions that send and an app that dismissals wake share a directory and are killed: all is stored once, in order"
    )
    func hostile() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let service = try Bellwether(database).serve()
        defer { _ = try? service.stop() }
        let weather = Weather()
        let proxy = try HostileProxy(before: service.port) { _, size in weather.mood(size: size) }
        defer { proxy.stop() }
        let phone = Phone(server: "http://127.0.0.1:\(proxy.port)", key: app.secret)

        // Longer where the machine is busy, until enough has happened.
        let usual = Deadline.after(seconds: ClientFaultTests.seconds)
        let longest = Deadline.after(seconds: ClientFaultTests.seconds + 120)
        let isOver = { @Sendable in
            longest.hasPassed || usual.hasPassed && phone.recorded.count > 50 && proxy.requests > 20
        }
        let workers = [
            Worker(name: "app") { phone.keepAlive("app", until: isOver, lives: 0.2...1.5, killed: 1) },
            Worker(name: "extension-1") { phone.keepAlive("extension", until: isOver, lives: 0.05...0.5, killed: 0.4) },
            Worker(name: "woken") { phone.keepAlive("woken", until: isOver, lives: 0.05...0.5, killed: 0.3) },
            Worker(name: "extension-2") { phone.keepAlive("extension", until: isOver, lives: 0.05...0.5, killed: 0.4) },
        ]
        for worker in workers { worker.join() }
        weather.clear()
        let last = try phone.start("flush").wait(within: 90)
        #expect(last.status == 0, "\(last)")

        let recorded = phone.recorded
        let stored: [String] = try database.column("SELECT notification_id FROM analytics.events ORDER BY seq")
        let (doubled, lost) = (stored.count - Set(stored).count, Set(recorded).subtracting(stored).count)
        let drops: [Int64] = try database.column("SELECT coalesce(sum(count), 0)::bigint FROM analytics.client_drops")
        FaultLength.report(
            """
            hostile network, \(Int(ClientFaultTests.seconds)) s: recorded \(recorded.count), stored \(stored.count), \
            lost \(lost), doubled \(doubled), requests \(proxy.requests) \
            \(proxy.counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }), \
            processes \(phone.starts), killed \(phone.kills)
            """)
        #expect(recorded.count > 50 && proxy.requests > 20)
        #expect(lost == 0)
        #expect(doubled == 0)
        // A process can be killed after its event is on disk and before it has said so.
        #expect(Set(stored).subtracting(recorded).count <= phone.kills)
        #expect(phone.complaints == [])
        #expect(!FileManager.default.fileExists(atPath: phone.path("set-aside")))
        #expect(drops.first ?? 0 <= phone.kills)

        let installs: [Int64] = try database.column("SELECT count(DISTINCT install_id) FROM analytics.events")
        let seqs: [Int64] = try database.column("SELECT count(DISTINCT seq) FROM analytics.events")
        #expect(installs == [1])
        #expect(seqs == [Int64(stored.count)])
        #expect(isOrdered(stored), "the order within the install is that of recording")
        try Laws.checkFunnels(url: database.url())
    }

    /// Whether what each process recorded stands in the order in which it did.
    private func isOrdered(_ ids: [String]) -> Bool {
        var last: [Substring: Int] = [:]
        for id in ids {
            guard let dash = id.lastIndex(of: "-"), let number = Int(id[id.index(after: dash)...]) else { return false }
            guard last[id[..<dash], default: 0] < number else { return false }
            last[id[..<dash]] = number
        }
        return true
    }
}

/// What the network does: worse and better by turns.
private final class Weather: Sendable {
    private let began = Deadline.now
    private let isClear = Lock(false)

    func clear() { isClear.withLock { $0 = true } }

    func mood(size: Int) -> HostileProxy.Mood {
        if isClear.withLock({ $0 }) { return .pass }
        // A small proxy on the way. By size: what is refused once must always be.
        if size > 4000 { return .answer(status: 413) }
        switch Double(Deadline.now.nanoseconds - began.nanoseconds).truncatingRemainder(dividingBy: 6e9) / 1e9 {
        case ..<1: return .reset
        case ..<1.4: return .answer(status: 401)
        case ..<1.8: return .answer(status: 503, head: "Retry-After: \(Int.random(in: 0...1))")
        default: break
        }
        switch Int.random(in: 0..<12) {
        case 0: return .reset
        case 1: return .cut(share: .random(in: 0...1))
        case 2, 3: return .swallow
        case 4: return .cutAnswer(share: .random(in: 0..<1))
        case 5: return .delay(seconds: .random(in: 0...1.2))
        case 6: return .answer(status: 503, head: "Retry-After: 0")
        case 7: return .answer(status: [500, 502, 504, 429, 408, 302].randomElement() ?? 500)
        default: return .pass
        }
    }
}

/// A directory that several processes share, and how these live and die.
private final class Phone: Sendable {
    private let scratch = TemporaryDirectory()
    private let server: String
    private let key: String
    private let state = Lock((starts: 0, kills: 0, complaints: [String]()))

    init(server: String, key: String) {
        self.server = server
        self.key = key
    }

    var starts: Int { state.withLock { $0.starts } }
    var kills: Int { state.withLock { $0.kills } }
    /// What processes said of which they should have said nothing.
    var complaints: [String] { state.withLock { $0.complaints } }

    func path(_ name: String) -> String { scratch("queue/" + name) }

    /// The ids of what was recorded, as the processes have said it.
    var recorded: [String] {
        let text = (try? String(contentsOfFile: scratch("recorded"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    func start(_ role: String) throws -> ChildProcess {
        let binary = (Bellwether.path as NSString).deletingLastPathComponent + "/ClientProcess"
        return try ChildProcess([binary, role, scratch("queue"), server, key, scratch("recorded")])
    }

    /// Starts it again and again, and kills so large a part of it.
    func keepAlive(_ role: String, until isOver: @Sendable () -> Bool, lives: ClosedRange<Double>, killed: Double) {
        while !isOver() {
            do {
                let child = try start(role)
                state.withLock { $0.starts += 1 }
                if Double.random(in: 0..<1) < killed {
                    _ = eventually(within: .random(in: lives)) { !child.isRunning }
                    if child.isRunning {
                        child.signal(SIGKILL)
                        state.withLock { $0.kills += 1 }
                    }
                }
                let ended = try child.wait(within: 30)
                // The notifications of this test have short identifiers, and each process says so.
                let messages = ended.messages.split(separator: "\n").filter { !$0.hasPrefix("collapsed:") }
                let isGood = [0, 128 + SIGKILL].contains(ended.status) && messages.isEmpty
                if !isGood { state.withLock { $0.complaints.append("\(ended)") } }
            } catch {
                state.withLock { $0.complaints.append("\(error)") }
            }
        }
    }
}
